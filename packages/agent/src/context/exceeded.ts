/** Recognises the error messages of servers that refuse a request because it exceeds the context. */

/** Messages of OpenAI, Anthropic, llama.cpp, vLLM, SGLang, LM Studio, Ollama, Gemini, Mistral, Bedrock and TGI. */
const EXCEEDED = new RegExp(
  [
    'context[ _](?:length|size|window|limit)[ _]?exceeded',
    'exceed\\w*[^.]{0,40}\\bcontext\\b',
    'context[^.]{0,20}\\bexceed',
    'maximum (?:context|model) length',
    'longer than the (?:model|maximum)',
    'prompt is too long',
    'input is too long',
    'input token count[^.]{0,30}exceeds',
    'input tokens exceed',
    'tokens to keep from the initial prompt',
    'context the overflows',
    'too large for model with \\d+ maximum context',
    'must be <= \\d+\\. given',
    'reduce the length of the (?:messages|prompt|input)',
  ].join('|'),
  'i',
)
/** A quota is a different problem. */
const QUOTA = /per (?:minute|day|hour)|rate.?limit|quota|\bTPM\b/i

const NUMBER = '(\\d[\\d,]{2,11})'
/** Where the messages state the context size. */
const LIMITS = [
  `\\+ \\d+ > ${NUMBER}`,
  `context (?:length|size|window|limit)(?: is| of| of only)?[ :(]*${NUMBER}`,
  `(?:model|maximum) length (?:is |of )?${NUMBER}`,
  `context (?:length|limit)[^.]{0,12}\\(${NUMBER}`,
  `> ?${NUMBER} maximum`,
  `<= ?${NUMBER}`,
  `tokens allowed \\(${NUMBER}`,
  `model with ${NUMBER} maximum context`,
  `limit of ${NUMBER}`,
  `"?n_ctx"?\\s*[:=]\\s*${NUMBER}`,
].map((source) => new RegExp(source, 'i'))

export interface Exceeded {
  /** Number of tokens that fit, if the server gives it. */
  readonly limit?: number
}

/** Parses a server's message. Returns undefined if it is about something else. */
export function contextExceeded(said: string): Exceeded | undefined {
  if (!EXCEEDED.test(said) || QUOTA.test(said)) return undefined
  for (const pattern of LIMITS) {
    const [, number] = pattern.exec(said) ?? []
    if (number !== undefined) return { limit: Number(number.replaceAll(',', '')) }
  }
  return {}
}
