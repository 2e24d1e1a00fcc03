/** Sends a short request to a server that may be absent, may be something else, and may answer anything. */
import { patientFetch } from '../patient-fetch.ts'

/** Asks for JSON by path: GET, or POST with a body. @throws NoAnswer */
export type Get = (path: string, body?: unknown) => Promise<unknown>

/** Milliseconds for an answer: a server that is busy with a reply still lists its models. */
export const PATIENCE = 1500
const MAX_BYTES = 8_000_000

export class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
  /** `absent`: nobody listens there. `wrong`: somebody does, and does not answer as such a server would. */
  readonly kind: 'absent' | 'wrong'
  /** Of HTTP. */
  readonly status: number | undefined

  constructor(kind: NoAnswer['kind'], why: string, status?: number) {
    super(why)
    this.kind = kind
    this.status = status
  }
}

export interface GetOptions {
  readonly signal?: AbortSignal
  /** Milliseconds for each answer. */
  readonly patience?: number
  readonly headers?: Readonly<Record<string, string>>
}

/** Of servers with OpenAI's API; none without a key. */
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
          response.status === 401 ? 'it asks for a key' : `it answers ${path} with ${response.status}`,
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
  if (code === undefined || BROKEN.test(code)) return new NoAnswer('wrong', 'it does not speak HTTP as a model server does')
  return new NoAnswer('absent', code === 'ECONNREFUSED' ? 'not running' : `not reachable (${code})`)
}

/** Somebody was there, and broke off or spoke something else. */
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
    if (bytes > MAX_BYTES) throw new NoAnswer('wrong', 'its answer does not end')
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}
