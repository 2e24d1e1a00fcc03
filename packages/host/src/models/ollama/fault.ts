/** Explains Ollama's errors, with what to do about them. */
import { APICallError } from '@ai-sdk/provider'
import { asObject, asText } from './wire.ts'

export interface FaultSource {
  readonly model: string
  readonly numCtx: number
  readonly url: string
}

interface Advice {
  readonly says: RegExp
  readonly do: (source: FaultSource, said: string) => string
}

const ADVICE: readonly Advice[] = [
  { says: /model .*not found/i, do: ({ model }) => `To get it: ollama pull ${model}` },
  { says: /does not support tools/i, do: () => 'Choose a model that can call tools: https://ollama.com/search?c=tools' },
  {
    says: /exceeds? the (?:available )?context|longer than the context/i,
    do: tooLong,
  },
  {
    says: /requires more system memory|out of memory|failed to allocate|unable to allocate/i,
    do: ({ numCtx }) =>
      `A smaller context needs less memory (MULLIGAN_CONTEXT, now ${numCtx.toLocaleString('en')}), and so does a smaller model.`,
  },
  { says: /runner process has terminated|unexpectedly stopped/i, do: () => "See Ollama's log for details." },
]

/** Turns an error response into an error with advice. @param status HTTP status; 500 for an error in the middle of a stream */
export function ollamaFault(status: number, body: string, headers: Readonly<Record<string, string>>, source: FaultSource): APICallError {
  const said = sentence(body)
  const advice = ADVICE.find(({ says }) => says.test(said ?? ''))?.do(source, said ?? '')
  return new APICallError({
    message: said === undefined ? `no reason was given` : advice === undefined ? said : `${said.replace(/\.?\s*$/, '.')} ${advice}`,
    url: source.url,
    requestBodyValues: {},
    statusCode: status,
    responseHeaders: { ...headers },
    // No response body: the reason is in the message, with the advice, and an error page of a proxy must not be quoted.
  })
}

/** Advises on a prompt that is too long. A server may use a smaller context than requested, and then says how large it is. */
function tooLong({ numCtx }: FaultSource, said: string): string {
  const [, size] = /context size \((\d+) tokens\)/.exec(said) ?? []
  const asked = numCtx.toLocaleString('en')
  return size !== undefined && Number(size) < numCtx
    ? `That is less than the ${asked} that were asked for: MULLIGAN_CONTEXT=${size} keeps the conversation within it.`
    : `The context is ${asked} tokens; MULLIGAN_CONTEXT changes it.`
}

/** Extracts the text from `{"error": "…"}`; the text may itself be such an object. */
function sentence(body: string, depth = 0): string | undefined {
  try {
    const { error, message } = asObject(JSON.parse(body))
    const text = asText(error) || asText(asObject(error)['message']) || asText(message)
    if (text === '') return undefined
    return depth < 3 && text.trimStart().startsWith('{') ? (sentence(text, depth + 1) ?? text) : text
  } catch {
    return undefined
  }
}
