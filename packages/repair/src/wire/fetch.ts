/** A `fetch` for chat-completions providers that repairs servers' mistakes in calls before the provider reads the response. */
import type { Repair } from '../repair.ts'
import { isRecord } from '../schema/validate.ts'
import { tryJson } from '../text.ts'
import { asChunks, asReply, handedOn } from './failed-parse.ts'
import { repairReply } from './message.ts'
import { type CutOff, earlierIds, type Rules, randomId } from './rules.ts'
import { formatEvent } from './sse.ts'
import { repairStream } from './stream.ts'

export interface RepairFetchOptions {
  readonly fetch?: typeof fetch
  /** Called for each repair, for events and logs. */
  readonly onRepair?: (repair: Repair) => void
  /**
   * How to handle the last call of a reply that was cut off by its length. `refuse`: the call is passed on in an unreadable form, and
   * the model is told. `keep`: the finish reason stays `length`, for callers that handle it.
   */
  readonly cutOff?: CutOff
}

/** Larger bodies are passed on unread. */
const MAX_ERROR_BYTES = 1024 * 1024
const MAX_REPLY_BYTES = 16 * 1024 * 1024

/** @example const provider = createOpenAICompatible({ name, baseURL, fetch: repairFetch() }) */
export function repairFetch(options: RepairFetchOptions = {}): typeof fetch {
  return async (input, init) => {
    const response = await (options.fetch ?? fetch)(input, init)
    if (!isChat(input) || !response.body) return response
    const kind = response.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
    if (!response.ok) return repairError(response, requestBody(init?.body), options)
    const { cutOff = 'refuse', onRepair } = options
    const rules: Rules = { earlier: earlierIn(init?.body), newId: randomId, cutOff, onRepair }
    if (kind === 'text/event-stream') return rewritten(response, repairStream(response.body, rules))
    return kind === 'application/json' ? repairWhole(response, rules) : response
  }
}

function isChat(input: unknown): boolean {
  const url = typeof input === 'string' ? input : input instanceof URL ? input.href : input instanceof Request ? input.url : ''
  return /\/chat\/completions\/?$/.test(url.replace(/[?#].*$/s, ''))
}

/** Returns the request as the provider wrote it; undefined if reading it would consume it. */
function requestBody(body: unknown): unknown {
  if (typeof body === 'string') return tryJson(body)
  return body instanceof Uint8Array ? tryJson(new TextDecoder().decode(body)) : undefined
}

/** An id that JSON writes as it is. */
const PLAIN_ID = /^[\w-]+$/

/** Returns the ids of the calls in a request. It is parsed only if it contains such an id, since it may be the whole conversation. */
function earlierIn(body: unknown): Rules['earlier'] {
  let parsed: ReadonlySet<string> | undefined
  const ids = (): ReadonlySet<string> => {
    parsed ??= earlierIds(requestBody(body))
    return parsed
  }
  const mayHave = (id: string): boolean => typeof body !== 'string' || !PLAIN_ID.test(id) || body.includes(`"${id}"`)
  return { has: (id) => mayHave(id) && ids().has(id), [Symbol.iterator]: () => ids()[Symbol.iterator]() }
}

async function repairWhole(response: Response, rules: Rules): Promise<Response> {
  const body = await peek(response, MAX_REPLY_BYTES)
  const reply = isRecord(body) ? repairReply(body, rules) : body
  return reply === body ? response : instead(response, JSON.stringify(reply))
}

/** Turns an error about a call that the server could not read into a reply with the model's text, in the requested form. */
async function repairError(response: Response, request: unknown, options: RepairFetchOptions): Promise<Response> {
  if (!isRecord(request)) return response
  const raw = handedOn(await peek(response, MAX_ERROR_BYTES), options)
  if (raw === undefined) return response
  if (request['stream'] !== true) return instead(response, JSON.stringify(asReply(raw)), 'application/json')
  const events = asChunks(raw).map((chunk) => new TextDecoder().decode(formatEvent(chunk)))
  return instead(response, `${events.join('')}data: [DONE]\n\n`, 'text/event-stream')
}

/** Returns the JSON of a body and leaves the body readable. Returns undefined if it is too large, incomplete or not valid JSON. */
async function peek(response: Response, limit: number): Promise<unknown> {
  if (Number(response.headers.get('content-length') ?? 0) > limit) return undefined
  const reader: ReadableStreamDefaultReader<Uint8Array> | undefined = response.clone().body?.getReader()
  const decoder = new TextDecoder()
  let text = ''
  let size = 0
  try {
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
      size += part.value.length
      if (size > limit) {
        // Settles only when the response itself is cancelled too, so do not await it.
        reader?.cancel().catch(() => undefined)
        return undefined
      }
      text += decoder.decode(part.value, { stream: true })
    }
  } catch {
    // Reading the response causes the same error.
    return undefined
  }
  return tryJson(text + decoder.decode())
}

/**
 * Replaces a body that was already read.
 * @param type content type of a reply that replaces an error
 */
function instead(response: Response, body: string, type?: string): Response {
  response.body?.cancel().catch(() => undefined)
  return rewritten(response, body, type)
}

function rewritten(response: Response, body: string | ReadableStream<Uint8Array>, type?: string): Response {
  const headers = new Headers(response.headers)
  headers.delete('content-length')
  headers.delete('content-encoding')
  if (type !== undefined) headers.set('content-type', type)
  const { status, statusText, url, redirected } = response
  const next = new Response(body, type === undefined ? { status, statusText, headers } : { status: 200, statusText: 'OK', headers })
  // A constructed response has neither property.
  Object.defineProperties(next, { url: { value: url }, redirected: { value: redirected } })
  return next
}
