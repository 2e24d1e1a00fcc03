/** One GET over http or https, redirects followed by hand, within bounds of bytes and time. */
import { isMulliganError, ToolFailure } from '@mulligan/core'
import { untilAborted } from '../../until-aborted.ts'
import { ACCEPT_ENCODING, type Body, discard, readBody } from './body.ts'
import { guardedAgent, type Lookup, refusal } from './connect.ts'
import { faultOf } from './faults.ts'
import type { Guard } from './guard.ts'
import { USER_AGENT } from './user-agent.ts'

export interface GetOptions {
  readonly guard: Guard
  readonly lookup: Lookup
  /** Decompressed bytes that are read. */
  readonly maxBytes: number
  /** Seconds for all of it, redirects and a slow body included. */
  readonly seconds: number
  readonly maxRedirects: number
  readonly signal: AbortSignal
}

export interface Response extends Body {
  /** Where the redirects ended. */
  readonly url: URL
  readonly status: number
  /** Empty for a header that is not there. */
  readonly header: (name: string) => string
}

const ACCEPT = 'text/html,application/xhtml+xml,text/markdown,text/plain;q=0.9,application/json;q=0.9,*/*;q=0.5'
const HEADERS = { 'user-agent': USER_AGENT, accept: ACCEPT, 'accept-encoding': ACCEPT_ENCODING }
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
/** Of what says itself to be no text, only what is needed to tell what it is. */
const MEDIA = /^(?:image(?!\/svg)|audio|video|font)\//i
const MEDIA_BYTES = 8192

/**
 * No cookie is kept, and nothing of one hop is sent to the next.
 *
 * @throws ToolFailure, ModelRetry or TransientError: what went wrong, in words for the model
 */
export async function get(start: URL, options: GetOptions): Promise<Response> {
  const { signal, seconds } = options
  const overdue = new AbortController()
  // Held, unlike those of AbortSignal.timeout: a process with nothing else to do waits for it.
  const timer = setTimeout(() => overdue.abort(), seconds * 1000)
  try {
    return await follow(start, { ...options, signal: AbortSignal.any([signal, overdue.signal]) })
  } catch (error) {
    signal.throwIfAborted()
    if (overdue.signal.aborted)
      throw new ToolFailure(`${start.hostname} had not sent the page after ${seconds} s.`, { errorType: 'timeout', cause: error })
    throw isMulliganError(error) ? error : faultOf(error, start)
  } finally {
    clearTimeout(timer)
  }
}

async function follow(start: URL, { guard, lookup, maxBytes, maxRedirects, signal }: GetOptions): Promise<Response> {
  const { request } = await import('undici')
  const agent = await guardedAgent(guard, lookup)
  const notes: string[] = []
  let url = start
  try {
    for (let hop = 0; ; hop++) {
      const reason = guard.url(url)
      if (reason) throw refusal(reason, hop > 0 ? ` ${start.host} redirects there.` : '')
      const { statusCode, headers, body } = await hopTo(url, () => request(url, { dispatcher: agent, signal, headers: HEADERS }), signal)
      const header = (name: string): string => [headers[name] ?? []].flat().join(', ')
      const next = REDIRECTS.has(statusCode) ? header('location') : ''
      if (next === '') {
        const most = MEDIA.test(header('content-type')) ? Math.min(maxBytes, MEDIA_BYTES) : maxBytes
        const read = await readBody(body, header('content-encoding'), most)
        return { ...read, url, status: statusCode, header, notes: [...notes, ...read.notes] }
      }
      discard(body)
      if (hop === maxRedirects) throw new ToolFailure(`${start.host} redirects more than ${maxRedirects} times.`)
      const to = URL.parse(next, url.href)
      if (!to) throw new ToolFailure(`${url.host} redirects to something that is no URL.`)
      if (url.protocol === 'https:' && to.protocol === 'http:') notes.push(`A redirect led from https to http, at ${to.host}.`)
      url = to
    }
  } finally {
    // Not waited for: it would wait for a name that is still being looked up.
    void agent.destroy()
  }
}

/** One request; its faults name its own host, not the first one. */
async function hopTo<T>(url: URL, start: () => Promise<T>, signal: AbortSignal): Promise<T> {
  return await untilAborted(signal, start).catch((error: unknown) => {
    throw isMulliganError(error) || signal.aborted ? error : faultOf(error, url)
  })
}
