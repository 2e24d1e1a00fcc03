/** Makes a GET request over http or https, following redirects itself, with limits on size and time. */
import { ToolFailure } from '@mulligan/core'
import { isMulliganError } from '@mulligan/core/executor'
import { untilAborted } from '../../until-aborted.ts'
import { ACCEPT_ENCODING, type Body, discard, readBody, userAgent } from './body.ts'
import { guardedAgent, type Lookup, refusal } from './connect.ts'
import { withDeadline } from './deadline.ts'
import { faultOf } from './faults.ts'
import type { Guard } from './guard.ts'

export interface GetOptions {
  readonly guard: Guard
  readonly lookup: Lookup
  /** Maximum decompressed bytes to read. */
  readonly maxBytes: number
  /** Seconds for everything, including redirects and a slow body. */
  readonly seconds: number
  readonly maxRedirects: number
  readonly signal: AbortSignal
}

export interface Response extends Body {
  /** The URL after all redirects. */
  readonly url: URL
  readonly status: number
  /** Empty for a missing header. */
  readonly header: (name: string) => string
}

const ACCEPT = 'text/html,application/xhtml+xml,text/markdown,text/plain;q=0.9,application/json;q=0.9,*/*;q=0.5'
const HEADERS = { accept: ACCEPT, 'accept-encoding': ACCEPT_ENCODING }
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
/** For a body declared as media, read only enough to detect its type. */
const MEDIA = /^(?:image(?!\/svg)|audio|video|font)\//i
const MEDIA_BYTES = 8192

/**
 * Fetches a page. Cookies are not kept, and no data is carried over from one redirect to the next.
 *
 * @throws ToolFailure, ModelRetry or TransientError with a message for the model
 */
export async function get(start: URL, options: GetOptions): Promise<Response> {
  const { signal, seconds } = options
  const late = (cause: unknown) =>
    new ToolFailure(`${start.hostname} had not sent the page after ${seconds} s.`, { errorType: 'timeout', cause })
  return withDeadline(signal, seconds, late, async (limited) => {
    try {
      return await follow(start, { ...options, signal: limited })
    } catch (error) {
      throw isMulliganError(error) || limited.aborted ? error : faultOf(error, start)
    }
  })
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
      const { statusCode, headers, body } = await untilAborted(signal, () =>
        request(url, { dispatcher: agent, signal, headers: { 'user-agent': userAgent(), ...HEADERS } }),
      ).catch((error: unknown) => {
        // Name this hop's host, not the first one.
        throw isMulliganError(error) || signal.aborted ? error : faultOf(error, url)
      })
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
      if (!to) throw new ToolFailure(`${url.host} redirects to something that is not a URL.`)
      if (url.protocol === 'https:' && to.protocol === 'http:') notes.push(`A redirect led from https to http, at ${to.host}.`)
      url = to
    }
  } finally {
    // Not awaited: it would wait for a pending name lookup.
    void agent.destroy()
  }
}
