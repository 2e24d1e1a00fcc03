/** Characters per token, rounded down so that a budget is kept: prose has about 4, code and JSON about 3. */
export const CHARS_PER_TOKEN = 3.5

/** About how many tokens a text has. An estimate: the true count is the tokenizer's. */
export const estimateTokens = (text: string): number => Math.ceil(text.length / CHARS_PER_TOKEN)
