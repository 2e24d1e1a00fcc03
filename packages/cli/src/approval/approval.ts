/** Asks the user to approve a call, and repeats until the answer is valid. */
import { type Ask, oneLine, visible } from '@mulligan/host/light'
import type { ApprovalQuestion, AskApproval } from '@mulligan/host/parts'
import { colorsFor } from '../ui/colors.ts'
import { choiceNamed } from './choices.ts'
import type { QuestionLook } from './question-text.ts'
import { ruleJson, ruleText } from './rule-text.ts'

/** Returns how questions look on a stream. */
export const lookOf = (stream: { readonly isTTY?: boolean; readonly columns?: number }): QuestionLook => ({
  colors: colorsFor(stream),
  columns: () => stream.columns,
})

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

/**
 * Parses an answer. `n too risky` is a denial with a reason. So is `Ntoo risky`, because `N` is the key that begins one. A number alone is
 * the choice in that place. Returns `undefined` for an answer that is invalid or not offered.
 */
export function answerOf(line: string, offered: readonly Answer['answer'][]): Answer | undefined {
  const [word = '', ...rest] = (choiceNamed(line.trim(), choices(offered)) ?? line)
    .trim()
    .replace(/^N(?![oO]?\b)/, 'n ')
    .split(/\s+/)
  const reason = rest.join(' ').slice(0, MAX_REASON)
  if (/^(?:n|no)[,:.]?$/i.test(word)) return { answer: 'no', ...(reason !== '' && { reason }) }
  const answer = reason === '' && Object.hasOwn(LETTERS, word.toLowerCase()) && LETTERS[word.toLowerCase() as keyof typeof LETTERS]
  return answer && offered.includes(answer) ? { answer } : undefined
}

const WORDS = { once: '[y]es once', session: '[s]ession', always: '[a]lways', view: '[v]iew all', no: '[n]o and why' } as const

export const choices = (offered: readonly Answer['answer'][]): string => `  ${offered.map((one) => WORDS[one]).join(', ')}: `

export const approvalInWords =
  (ask: Ask, look: QuestionLook): AskApproval =>
  async (asked, signal) => {
    const { request, session, always, ...rest } = asked
    // Loaded when it is needed: measuring widths takes a large table, and nearly all runs of a script ask nothing.
    const { questionOf } = await import('./question-text.ts')
    const about = { ...rest, covers: session?.covers }
    let { text, isCut } = questionOf(request, about, look)
    const offered = (): Answer['answer'][] => [
      'once',
      ...(session ? (['session'] as const) : []),
      ...(always ? (['always'] as const) : []),
      ...(isCut ? (['view'] as const) : []),
      'no',
    ]
    for (let question = text + choices(offered()); ; ) {
      const line = await ask(question, signal)
      if (line === undefined) return { answer: signal.aborted ? 'timeout' : 'no' }
      const given = answerOf(line, offered())
      if (given?.answer === 'no') return given
      if (given?.answer === 'once' || given?.answer === 'session') return { answer: given.answer }
      if (given?.answer === 'always' && always) {
        const offer = await chooseRules(always, look, ask, signal)
        if (offer !== undefined) return { answer: 'always', offer }
      }
      if (given?.answer === 'view') {
        text = questionOf(request, { ...about, whole: true }, look).text
        isCut = false
      }
      question = given ? text + choices(offered()) : `Please answer${choices(offered()).replace(/^ +/, ' ')}`
    }
  }

/** Shows what would be written to the file: each rule in words, and as it is written. Returns `undefined` if the user declines. */
async function chooseRules(
  { file, offers }: NonNullable<ApprovalQuestion['always']>,
  { colors }: QuestionLook,
  ask: Ask,
  signal: AbortSignal,
): Promise<number | undefined> {
  const numbered = offers.flatMap((rules, at) =>
    rules.flatMap((rule, line) => [
      `    ${line === 0 ? at + 1 : ' '}  ${line === 0 ? '' : 'and '}${ruleText(rule)}`,
      colors.dim(`       ${ruleJson(rule)}`),
    ]),
  )
  const numbers = offers.map((_, at) => `[${at + 1}]`).join(', ')
  const question = ['', `  To be written to "policy" in ${oneLine(visible(file))}:`, ...numbered, `  ${numbers}, [n]othing: `]
  const line = await ask(question.join('\n'), signal)
  const chosen = Number(choiceNamed(line?.trim() ?? '', question.at(-1) as string)) - 1
  return offers[chosen] ? chosen : undefined
}
