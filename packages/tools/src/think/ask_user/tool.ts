import { defineTool, ok, type Tool, ToolFailure, type ToolOk } from '@mulligan/core'
import { z } from 'zod'
import { describe } from '../../describe.ts'
import { untilAborted } from '../../until-aborted.ts'

const MAX_CHARS = 2000
const MAX_OPTIONS = 9
const MAX_OPTION_CHARS = 200
/** How often to repeat a question after a blank answer. */
const MAX_BLANK = 3
/** Seconds. The user may be away for a while. */
const ANSWER_TIMEOUT = 3600

const option = () => z.string().trim().min(1).max(MAX_OPTION_CHARS)
const input = z.object({
  question: z.string().trim().min(1).max(MAX_CHARS).describe('one question'),
  options: z.array(option()).max(MAX_OPTIONS).default([]).describe('answers to choose from'),
  default: option().optional().describe('taken when nobody answers'),
})
type Input = z.infer<typeof input>

export interface Question {
  readonly question: string
  readonly options?: readonly string[]
}
export type Answer = { readonly answer: string } | { readonly declined: 'nobody' | 'closed' | 'timeout' }
/** Asks the user a question. The implementation is responsible for making it safe for a terminal. */
export type Ask = (question: Question, signal: AbortSignal) => Promise<Answer>

const WHY = {
  nobody: 'Nobody is there to ask.',
  closed: 'The person closed the question without an answer.',
  timeout: 'The person did not answer in time.',
} as const

/**
 * Creates the tool that asks the user.
 * @param ask if absent, nobody is available to answer
 */
export function askUserTool(ask: Ask = async () => ({ declined: 'nobody' })): Tool {
  let last: Promise<unknown> = Promise.resolve()
  return defineTool({
    name: 'ask_user',
    description: describe(import.meta.url),
    input,
    effect: 'read',
    readsWorkspace: false,
    timeout: ANSWER_TIMEOUT,
    aliases: ['clarify', 'ask', 'ask_followup_question', 'ask_question', 'AskUserQuestion'].map((name) => ({ name, adapt: fromOthers })),
    parameterAliases: { question: ['text', 'message', 'prompt'], options: ['choices', 'follow_up', 'suggestions'] },
    target: ({ question }) => question,
    examples: [
      { outcome: 'ok', input: { question: 'Which port?', default: '8080' }, why: 'the default, where nobody answers' },
      { outcome: 'retry', input: { question: '' } },
    ],
    execute: (call, { signal }) => {
      // Ask one question at a time, although reads run in parallel.
      const asked = last.then(() => askOne(ask, call, signal))
      last = asked.catch(() => undefined)
      return untilAborted(signal, () => asked)
    },
  })
}

async function askOne(ask: Ask, call: Input, signal: AbortSignal): Promise<ToolOk> {
  const { question, options } = call
  let before: string | undefined
  for (let blank = 0; blank < MAX_BLANK; blank++) {
    const again = before === undefined ? '' : `There is no option ${before}; the same again sends it as it is. `
    // `ask` may ignore the signal.
    const given = await untilAborted(signal, () => ask({ question: again + question, ...(options.length > 0 ? { options } : {}) }, signal))
    if ('declined' in given) return unanswered(call, WHY[given.declined])
    const answer = given.answer.trim()
    if (isSlip(answer, options) && answer !== before) before = answer
    else if (answer !== '') return answered(answer, options)
  }
  return unanswered(call, 'The person gave no answer.')
}

/** Whether the answer is the number of an option that does not exist. */
const isSlip = (answer: string, options: readonly string[]): boolean =>
  options.length > 0 && /^\d{1,2}$/.test(answer) && options[Number(answer) - 1] === undefined && !options.some((one) => /\d/.test(one))

/** Builds the result. `option` is the answer's index among the options, from 0, if it is one of them. */
function answered(text: string, options: readonly string[]): ToolOk {
  const byNumber = /^\d$/.test(text) && !options.includes(text) ? Number(text) - 1 : -1
  const at = options[byNumber] === undefined ? options.findIndex((one) => one.toLowerCase() === text.toLowerCase()) : byNumber
  const answer = options[at] ?? text
  return ok({ answer, by: 'person', ...(at >= 0 && { option: at }) }, { content: `The person answered: ${answer}`, count: 1 })
}

function unanswered({ default: answer }: Input, why: string): ToolOk {
  if (answer === undefined)
    throw new ToolFailure(`${why} Go on with the safest assumption, and say in your answer which one.`, {
      errorType: 'permission',
      status: 'denied',
    })
  const notes = ['A default is no leave for anything that needs a person: say in your answer that it was taken.']
  return ok({ answer, by: 'default' }, { content: `${why} Your default is taken: ${answer}`, count: 1, notes })
}

/** Adapts `questions: [{question, options: [{label}]}]`, `follow_up: [{text}]`, and options as JSON text. */
function fromOthers(call: Record<string, unknown>): Record<string, unknown> {
  const { questions, follow_up, ...rest } = call
  const [only, ...others] = Array.isArray(questions) ? questions : []
  const { question = rest['question'], options = rest['options'] ?? rest['choices'] ?? follow_up } =
    others.length === 0 && typeof only === 'object' && only !== null ? (only as Record<string, unknown>) : {}
  const { choices: _, options: __, question: ___, ...more } = rest
  return { ...more, ...(question === undefined ? {} : { question }), ...(options === undefined ? {} : { options: labels(options) }) }
}

function labels(options: unknown): unknown {
  if (!Array.isArray(options)) return options
  return options.map((one) => (typeof one === 'object' && one !== null ? (one.label ?? one.text ?? one) : one))
}
