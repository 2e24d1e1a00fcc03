/** Parses a person's answer to an approval question. */

export type Answer = { readonly answer: 'once' | 'session' | 'always' | 'view' } | { readonly answer: 'no'; readonly reason?: string }

export const LETTERS = {
  y: 'once',
  yes: 'once',
  s: 'session',
  session: 'session',
  a: 'always',
  always: 'always',
  v: 'view',
  view: 'view',
} as const
const MAX_REASON = 500

/** `n too risky` is a no with a reason. `undefined` for what is no answer, or none that is offered here. */
export function answerOf(line: string, offered: readonly Answer['answer'][]): Answer | undefined {
  const [word = '', ...rest] = line.trim().split(/\s+/)
  const reason = rest.join(' ').slice(0, MAX_REASON)
  if (/^(?:n|no)[,:.]?$/i.test(word)) return { answer: 'no', ...(reason !== '' && { reason }) }
  const answer = reason === '' && Object.hasOwn(LETTERS, word.toLowerCase()) && LETTERS[word.toLowerCase() as keyof typeof LETTERS]
  return answer && offered.includes(answer) ? { answer } : undefined
}

const WORDS = { once: '[y]es once', session: '[s]ession', always: '[a]lways', view: '[v]iew all', no: '[n]o and why' } as const

export const choices = (offered: readonly Answer['answer'][]): string => `  ${offered.map((one) => WORDS[one]).join(', ')}: `
