/** One question to a search service. Its address is the person's own choice, so no guard: it may be of their network. */
import { isMulliganError, ToolFailure, TransientError } from '@mulligan/core'
import { untilAborted } from '../../until-aborted.ts'
import { ACCEPT_ENCODING, readBody } from '../net/body.ts'
import { faultOf } from '../net/faults.ts'
import { retryAfter } from '../net/retry-after.ts'
import { USER_AGENT } from '../net/user-agent.ts'
import type { Row, SearchProvider } from './provider.ts'

const MAX_BYTES = 2_000_000

export interface AskOptions {
  readonly limit: number
  /** Seconds. */
  readonly seconds: number
  readonly signal: AbortSignal
}

export async function ask(provider: SearchProvider, query: string, { limit, seconds, signal }: AskOptions): Promise<readonly Row[]> {
  const { name } = provider
  const overdue = new AbortController()
  const timer = setTimeout(() => overdue.abort(), seconds * 1000)
  try {
    return await exchange(provider, query, limit, AbortSignal.any([signal, overdue.signal]))
  } catch (error) {
    signal.throwIfAborted()
    if (overdue.signal.aborted) throw new ToolFailure(`${name} had not answered after ${seconds} s.`, { errorType: 'timeout' })
    throw error
  } finally {
    clearTimeout(timer)
  }
}

async function exchange(provider: SearchProvider, query: string, limit: number, signal: AbortSignal): Promise<readonly Row[]> {
  const { name, setting } = provider
  const { Agent, request } = await import('undici')
  const { url, method, headers, body } = requestOf(provider, query, limit)
  const dispatcher = new Agent({ pipelining: 0, connect: { timeout: 10_000 } })
  try {
    const common = { 'user-agent': USER_AGENT, accept: 'application/json', 'accept-encoding': ACCEPT_ENCODING }
    const answer = await untilAborted(signal, () =>
      request(url, {
        dispatcher,
        method,
        signal,
        headers: { ...common, ...headers },
        ...(body !== undefined && { body }),
      }),
    )
    const header = (field: string): string => [answer.headers[field] ?? []].flat().join(', ')
    const failure = failureOf(provider, answer.statusCode, header)
    if (failure) throw failure
    const { bytes, partial } = await readBody(answer.body, header('content-encoding'), MAX_BYTES)
    const rows = partial === undefined ? provider.rows(parse(bytes.toString('utf8'))) : undefined
    if (!rows) throw new ToolFailure(`What ${name} answered is not what its protocol says.`)
    return rows
  } catch (error) {
    if (isMulliganError(error) || signal.aborted) throw error
    throw serviceFault(faultOf(error, url), name, setting)
  } finally {
    void dispatcher.destroy()
  }
}

/** A key or a URL that cannot even be sent is a setting to be corrected; what it is stays unsaid. */
function requestOf(provider: SearchProvider, query: string, limit: number): ReturnType<SearchProvider['request']> {
  try {
    const request = provider.request(query, limit)
    new Headers(request.headers)
    if (/^https?:$/.test(request.url.protocol)) return request
  } catch {}
  throw config(provider, 'is not usable: it is malformed')
}

/** A host that does not exist is the model's mistake in `web_fetch`, and the setting's here. */
const serviceFault = (fault: ReturnType<typeof faultOf>, name: string, setting: string): Error =>
  fault.status === 'retry' ? new ToolFailure(`${name} is not there. Check the setting ${setting}.`, { errorType: 'config' }) : fault

function failureOf(provider: SearchProvider, status: number, header: (name: string) => string): Error | undefined {
  const { name } = provider
  if (status >= 200 && status < 300) return undefined
  if (status === 429)
    return new TransientError(`${name} answered 429: too many requests.`, { errorType: 'rate_limited', ...retryAfter(header) })
  if (status >= 500) return new TransientError(`${name} answered ${status}: the service is at fault.`, retryAfter(header))
  const special = provider.refusal?.(status)
  if (special) return config(provider, special)
  if (status === 401 || status === 403) return config(provider, 'does not accept the key')
  if (status >= 300 && status < 400) return config(provider, `redirects (${status}), which is not followed`)
  return new ToolFailure(`${name} answered ${status}.`)
}

const config = ({ name, setting }: SearchProvider, what: string): ToolFailure =>
  new ToolFailure(`${name} ${what}. Check the setting ${setting}.`, { errorType: 'config', setting })

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
