/** Sends short requests to a server that may be absent, may be something else, and may answer anything. */
import { patientFetch } from '../patient-fetch.ts'

/** Requests JSON by path: GET, or POST with a body. @throws NoAnswer */
export type Get = (path: string, body?: unknown) => Promise<unknown>

/** Milliseconds to wait for an answer: a server that is busy with a reply still lists its models. */
export const PATIENCE = 1500
const MAX_BYTES = 8_000_000

export class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
  /** `absent`: nothing listens there. `wrong`: something does, but it does not answer as such a server would. */
  readonly kind: 'absent' | 'wrong'
  /** HTTP status. */
  readonly status: number | undefined

  constructor(kind: NoAnswer['kind'], why: string, status?: number) {
    super(why)
    this.kind = kind
    this.status = status
  }
}

export interface GetOptions {
  readonly signal?: AbortSignal
  /** Milliseconds to wait for each answer. */
  readonly patience?: number
  readonly headers?: Readonly<Record<string, string>>
}

/** Returns the authorization header for OpenAI's API; empty without a key. */
export const bearer = (key: string | undefined): Readonly<Record<string, string>> => (key ? { authorization: `Bearer ${key}` } : {})

export function createGet(address: string, { signal, patience = PATIENCE, headers }: GetOptions = {}): Get {
  return async (path, body) => {
    const late = AbortSignal.timeout(patience)
    try {
      const response = await patientFetch(`${address}${path}`, {
        ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
        headers: { accept: 'application/json', ...headers },
        signal: signal ? AbortSignal.any([signal, late]) : late,
      })
      if (!response.ok) {
        await response.body?.cancel()
        throw new NoAnswer(
          'wrong',
          response.status === 401 ? 'it requires a key' : `it answers ${path} with ${response.status}`,
          response.status,
        )
      }
      return JSON.parse(await boundedText(response))
    } catch (error) {
      throw noAnswer(error, late.aborted, path)
    }
  }
}

function noAnswer(error: unknown, isLate: boolean, path: string): NoAnswer {
  if (error instanceof NoAnswer) return error
  if (isLate) return new NoAnswer('wrong', 'it does not answer')
  if (error instanceof SyntaxError) return new NoAnswer('wrong', `its answer to ${path} is not valid JSON`)
  const code = codeOf(error)
  if (code === undefined || BROKEN.test(code)) return new NoAnswer('wrong', 'it does not respond like a model server')
  return new NoAnswer('absent', code === 'ECONNREFUSED' ? 'not running' : `not reachable (${code})`)
}

/** Errors where something answered, but closed the connection or spoke another protocol. */
const BROKEN = /^(?:HPE_|UND_ERR_|ECONNRESET|EPIPE)/

function codeOf(error: unknown, depth = 0): string | undefined {
  if (typeof error !== 'object' || error === null || depth > 4) return undefined
  const { code, cause, errors } = error as { code?: unknown; cause?: unknown; errors?: readonly unknown[] }
  return typeof code === 'string' ? code : (codeOf(cause, depth + 1) ?? codeOf(errors?.[0], depth + 1))
}

async function boundedText(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > MAX_BYTES) throw new NoAnswer('wrong', 'its response is too large')
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

/** Fields of an answer, with unchecked values. */
export type Fields = Readonly<Record<string, unknown>>

export const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})

export const textIn = (fields: Fields, key: string): string | undefined => {
  const value = fields[key]
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Returns a whole number above 0. */
export const countIn = (fields: Fields, key: string): number | undefined => {
  const value = fields[key]
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined
}

/** Returns the names in `GET /models`, for any of the APIs. @throws NoAnswer */
export async function modelNames(get: Get): Promise<readonly string[]> {
  const answer = await get('/models')
  const list = listIn(answer, Array.isArray(fieldsOf(answer)['data']) ? 'data' : 'models')
  return list.flatMap((model) => textIn(model, 'id') ?? textIn(model, 'name')?.replace(/^models\//, '') ?? [])
}

/** Maximum number of models read from a server. */
const MOST = 500

/** Returns a list in an answer. @throws NoAnswer if it is not there */
export function listIn(answer: unknown, key: string): readonly Fields[] {
  const list = fieldsOf(answer)[key]
  if (!Array.isArray(list)) throw new NoAnswer('wrong', 'its answer is not a list of models')
  return list.slice(0, MOST).map(fieldsOf)
}
