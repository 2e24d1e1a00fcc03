/** Characters per token, rounded down to stay within budgets: prose has about 4, code and JSON about 3. */
export const CHARS_PER_TOKEN = 3.5

/** Estimates the number of tokens in a text. Only the model's tokenizer knows the exact count. */
export const estimateTokens = (text: string): number => tokensIn(text.length)

/** Estimates the number of tokens from a text's length in characters. */
export const tokensIn = (characters: number): number => Math.ceil(characters / CHARS_PER_TOKEN)
