/** Asks the user about a call until there is a valid answer. */
import { type Ask, safeJson } from '@mulligan/host/light'
import type { ApprovalQuestion, AskApproval } from '@mulligan/host/parts'
import type { Colors } from '../ui/colors.ts'
import { type Answer, answerOf, choices } from './answers.ts'
import { questionOf } from './question.ts'

export const approvalInWords =
  (ask: Ask, colors: Colors): AskApproval =>
  async (asked, signal) => {
    const { request, session, always, ...rest } = asked
    const about = { ...rest, covers: session?.covers }
    let { text, isCut } = questionOf(request, about, colors)
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
        const offer = await chooseRules(always, ask, signal)
        if (offer !== undefined) return { answer: 'always', offer }
      }
      if (given?.answer === 'view') {
        text = questionOf(request, { ...about, whole: true }, colors).text
        isCut = false
      }
      question = given ? text + choices(offered()) : `Please answer${choices(offered()).replace(/^ +/, ' ')}`
    }
  }

/** Shows what would be written. `undefined`: they would rather not. */
async function chooseRules(
  { file, offers }: NonNullable<ApprovalQuestion['always']>,
  ask: Ask,
  signal: AbortSignal,
): Promise<number | undefined> {
  const numbered = offers.flatMap((rules, at) => rules.map((rule, line) => `    ${line === 0 ? at + 1 : ' '}  ${safeJson(rule)}`))
  const numbers = offers.map((_, at) => `[${at + 1}]`).join(', ')
  const line = await ask(['', `  To be written to "policy" in ${file}:`, ...numbered, `  ${numbers}, [n]othing: `].join('\n'), signal)
  const chosen = Number(line?.trim() || Number.NaN) - 1
  return offers[chosen] ? chosen : undefined
}
