/** Sends one query to a search service. There is no address guard: the user chose the address, and it may be in their own network. */
import { ToolFailure, TransientError } from '@mulligan/core'
import { isMulliganError } from '@mulligan/core/executor'
import { untilAborted } from '../../until-aborted.ts'
import { ACCEPT_ENCODING, readBody, userAgent } from '../net/body.ts'
import { withDeadline } from '../net/deadline.ts'
import { faultOf, retryAfter } from '../net/faults.ts'
import type { Row, SearchProvider } from './providers.ts'

const MAX_BYTES = 2_000_000
const COMMON = { accept: 'application/json', 'accept-encoding': ACCEPT_ENCODING }

interface AskOptions {
  readonly limit: number
  readonly seconds: number
  readonly signal: AbortSignal
}

export const ask = (provider: SearchProvider, query: string, { limit, seconds, signal }: AskOptions): Promise<readonly Row[]> => {
  const late = () => new ToolFailure(`${provider.name} had not answered after ${seconds} s.`, { errorType: 'timeout' })
  return withDeadline(signal, seconds, late, (limited) => exchange(provider, query, limit, limited))
}

async function exchange(provider: SearchProvider, query: string, limit: number, signal: AbortSignal): Promise<readonly Row[]> {
  const { name, setting } = provider
  const { Agent, request } = await import('undici')
  const { url, method, headers, body } = requestOf(provider, query, limit)
  const dispatcher = new Agent({ pipelining: 0, connect: { timeout: 10_000 } })
  const sent = {
    dispatcher,
    method,
    signal,
    headers: { 'user-agent': userAgent(), ...COMMON, ...headers },
    ...(body !== undefined && { body }),
  }
  try {
    const answer = await untilAborted(signal, () => request(url, sent))
    const header = (field: string): string => [answer.headers[field] ?? []].flat().join(', ')
    const failure = failureOf(provider, answer.statusCode, header)
    if (failure) throw failure
    const { bytes, partial } = await readBody(answer.body, header('content-encoding'), MAX_BYTES)
    const rows = partial === undefined ? provider.rows(parse(bytes.toString('utf8'))) : undefined
    if (!rows) throw new ToolFailure(`${name} sent an unexpected response.`)
    return rows
  } catch (error) {
    if (isMulliganError(error) || signal.aborted) throw error
    const fault = faultOf(error, url)
    // With `web_fetch`, a host that does not exist is the model's mistake; here it is a wrong setting.
    throw fault.status === 'retry'
      ? new ToolFailure(`${name} cannot be reached. Check the setting ${setting}.`, { errorType: 'config' })
      : fault
  } finally {
    void dispatcher.destroy()
  }
}

/** Builds the request. A key or URL that cannot be sent is reported as a wrong setting, without revealing its value. */
function requestOf(provider: SearchProvider, query: string, limit: number): ReturnType<SearchProvider['request']> {
  try {
    const request = provider.request(query, limit)
    new Headers(request.headers)
    if (/^https?:$/.test(request.url.protocol)) return request
  } catch {}
  throw config(provider, 'is not usable: it is malformed')
}

function failureOf(provider: SearchProvider, status: number, header: (name: string) => string): Error | undefined {
  const { name } = provider
  if (status >= 200 && status < 300) return undefined
  if (status === 429)
    return new TransientError(`${name} answered 429: too many requests.`, { errorType: 'rate_limited', ...retryAfter(header) })
  if (status >= 500) return new TransientError(`${name} answered ${status}: the service is at fault.`, retryAfter(header))
  const denied = status === 401 || status === 403 ? 'does not accept the key' : undefined
  const redirected = status < 400 ? `redirects (${status}), which is not followed` : undefined
  const says = provider.refusal(status) ?? denied ?? redirected
  return says === undefined ? new ToolFailure(`${name} answered ${status}.`) : config(provider, says)
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
