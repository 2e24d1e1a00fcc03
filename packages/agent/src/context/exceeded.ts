/** Recognises the error messages with which servers refuse a request that exceeds the context. */

/** OpenAI, Anthropic, llama.cpp, vLLM, SGLang, LM Studio, Ollama, Gemini, Mistral, Bedrock, TGI. */
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
/** A quota is another thing. */
const QUOTA = /per (?:minute|day|hour)|rate.?limit|quota|\bTPM\b/i

const NUMBER = '(\\d[\\d,]{2,11})'
/** Where the size of the context stands. */
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
  /** Tokens that fit, where the server says so. */
  readonly limit?: number
}

/** From what a server said: undefined if it is about something else. */
export function contextExceeded(said: string): Exceeded | undefined {
  if (!EXCEEDED.test(said) || QUOTA.test(said)) return undefined
  for (const pattern of LIMITS) {
    const [, number] = pattern.exec(said) ?? []
    if (number !== undefined) return { limit: Number(number.replaceAll(',', '')) }
  }
  return {}
}
