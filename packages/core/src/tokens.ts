/** Characters per token, rounded down so that a budget is kept: prose has about 4, code and JSON about 3. */
export const CHARS_PER_TOKEN = 3.5

/** About how many tokens a text has. An estimate: the true count is the tokenizer's. */
export const estimateTokens = (text: string): number => tokensIn(text.length)

/** The same of a text that is not at hand, by its length in characters. */
export const tokensIn = (characters: number): number => Math.ceil(characters / CHARS_PER_TOKEN)
