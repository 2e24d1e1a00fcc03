/** `fetch` for providers of chat completions, with what servers get wrong about calls repaired before the provider reads it. */
import type { Repair } from '../repair.ts'
import { isRecord } from '../schema/validate.ts'
import type { Rules } from './chunk.ts'
import { asChunks, asReply, rawOutput } from './failed-parse.ts'
import type { CutOff } from './finish.ts'
import { earlierIds, randomId } from './ids.ts'
import { parseJson } from './json.ts'
import { repairReply } from './message.ts'
import { formatEvent } from './sse.ts'
import { repairStream } from './stream.ts'
import { tell } from './tell.ts'

export interface RepairFetchOptions {
  readonly fetch?: typeof fetch
  /** Told of each repair: for events and logs. */
  readonly onRepair?: (repair: Repair) => void
  /**
   * The last call of a reply that was cut off by its length. `refuse`: it is handed on so that it cannot be read, and the
   * model hears of it. `keep`: the finish reason stays `length`, for a caller that knows what to do.
   */
  readonly cutOff?: CutOff
}

/** Larger bodies go on unread. */
const MAX_ERROR_BYTES = 1024 * 1024
const MAX_REPLY_BYTES = 16 * 1024 * 1024

/** @example const provider = createOpenAICompatible({ name, baseURL, fetch: repairFetch() }) */
export function repairFetch(options: RepairFetchOptions = {}): typeof fetch {
  return async (input, init) => {
    const response = await (options.fetch ?? fetch)(input, init)
    if (!isChat(input) || !response.body) return response
    const request = requestBody(init?.body)
    const kind = response.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
    if (!response.ok) return repairError(response, request, options)
    const rules = { earlier: earlierIds(request), newId: randomId, cutOff: options.cutOff ?? 'refuse' }
    if (kind === 'text/event-stream') return rewritten(response, repairStream(response.body, { ...rules, onRepair: options.onRepair }))
    return kind === 'application/json' ? repairWhole(response, rules, options) : response
  }
}

function isChat(input: unknown): boolean {
  const url = typeof input === 'string' ? input : input instanceof URL ? input.href : input instanceof Request ? input.url : ''
  return /\/chat\/completions\/?$/.test(url.replace(/[?#].*$/s, ''))
}

/** The request as the provider wrote it; undefined if it cannot be read without taking it away from the server. */
function requestBody(body: unknown): unknown {
  if (typeof body === 'string') return parseJson(body)
  return body instanceof Uint8Array ? parseJson(new TextDecoder().decode(body)) : undefined
}

async function repairWhole(response: Response, rules: Rules, options: RepairFetchOptions): Promise<Response> {
  const body = await peek(response, MAX_REPLY_BYTES)
  if (!isRecord(body)) return response
  const { reply, repairs } = repairReply(body, rules)
  for (const repair of repairs) tell(options.onRepair, repair)
  return reply === body ? response : instead(response, JSON.stringify(reply))
}

/** An error that is a call the server could not read becomes a reply with the model's text, in the form that was asked for. */
async function repairError(response: Response, request: unknown, options: RepairFetchOptions): Promise<Response> {
  if (!isRecord(request)) return response
  const body = await peek(response, MAX_ERROR_BYTES)
  const raw = rawOutput(body)
  if (raw === undefined) return response
  tell(options.onRepair, {
    kind: 'wire',
    from: body,
    to: raw,
    why: 'the server could not read the call: the text of the model is handed on',
  })
  const found = { status: 200, statusText: 'OK' }
  if (request['stream'] !== true) return instead(response, JSON.stringify(asReply(raw)), { ...found, type: 'application/json' })
  const events = asChunks(raw).map((chunk) => new TextDecoder().decode(formatEvent(chunk)))
  return instead(response, `${events.join('')}data: [DONE]\n\n`, { ...found, type: 'text/event-stream' })
}

/** The JSON of a body, which stays readable; undefined if it is too large, broken off, or no JSON. */
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
        // Settles only when the response itself is cancelled too: not to be waited for.
        reader?.cancel().catch(() => undefined)
        return undefined
      }
      text += decoder.decode(part.value, { stream: true })
    }
  } catch {
    // Whoever reads the response meets the same error.
    return undefined
  }
  return parseJson(text + decoder.decode())
}

interface Changed {
  readonly status?: number
  readonly statusText?: string
  readonly type?: string
}

/** Another body in the place of one that was read already. */
function instead(response: Response, body: string, changed: Changed = {}): Response {
  response.body?.cancel().catch(() => undefined)
  return rewritten(response, body, changed)
}

function rewritten(response: Response, body: string | ReadableStream<Uint8Array>, { type, ...changed }: Changed = {}): Response {
  const headers = new Headers(response.headers)
  headers.delete('content-length')
  headers.delete('content-encoding')
  if (type !== undefined) headers.set('content-type', type)
  const { status, statusText, url, redirected } = response
  const next = new Response(body, { status, statusText, headers, ...changed })
  // A constructed response has neither of its own.
  Object.defineProperties(next, { url: { value: url }, redirected: { value: redirected } })
  return next
}
