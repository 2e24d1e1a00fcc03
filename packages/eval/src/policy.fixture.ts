/**
 * A model that does every task as in its reference, except for the planted faults. Like a real model it sees only the request, so it
 * does not know the arm: the effect of a fault depends on the arm alone.
 */
import { calls, type ScriptedTurn, say, type TurnFunction } from '@mulligan/testing'
import type { TaskCall } from './task.ts'
import { TASKS } from './tasks/index.ts'

export type Fault =
  /** Sends the numbers of its first call as text, repeatedly. */
  | 'number as text'
  /** Writes its first call into its text. */
  | 'leaked call'
  /** Uses a wrong name for the tool, repeatedly. */
  | { readonly name: string }
  /** Leaves a trailing comma in the arguments, repeatedly. */
  | 'bad json'
  /** Uses a wrong path, and corrects it only if the hint suggests a call. */
  | 'wrong path'
  /** Repeats its first call until it is blocked. */
  | 'same call'
  /** Gives no answer until it is asked for one. */
  | 'empty'
  /** Does nothing, and claims to have done it. */
  | 'false claim'
  /** Sends a number that is out of range once, and the correct one after any error. */
  | 'learns'
  /** Repeats its first call five times, and gives up if one is blocked. */
  | 'patient'

export type Plan = Readonly<Record<string, Fault>>

interface Message {
  readonly role: string
  readonly content?: unknown
  readonly tool_calls?: readonly unknown[]
}

const GIVES_UP = say('I was unable to do it.')
const REFUSED =
  /^(?:Error: (?:invalid arguments|unknown tool|the arguments are not valid JSON|There is no tool)|retry \((?:validation|unknown_tool|malformed_call)\))/

export const policy =
  (plan: Plan): TurnFunction =>
  (request) => {
    const { messages } = request.body as { readonly messages: readonly Message[] }
    const said = messages
      .filter(({ role }) => role === 'user')
      .map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content)))
    const task = TASKS.find(({ prompt }) => said[0]?.includes(prompt) || said[0]?.includes(JSON.stringify(prompt).slice(1, -1)))
    if (!task) return say('Ready.')
    const { steps, answer } = task.reference
    const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => String(content))
    const made = messages.filter(({ role, tool_calls }) => role === 'assistant' && tool_calls?.length).length
    const first = steps[0]?.[0] as TaskCall
    /** The step with that index, or the answer. */
    const go = (at: number): ScriptedTurn => (at < steps.length ? calls(...(steps[at] as TaskCall[])) : say(answer))
    const refused = results.filter((text) => REFUSED.test(text)).length
    const stubborn = (turn: ScriptedTurn): ScriptedTurn => (made > refused ? go(made - refused) : refused > 2 ? GIVES_UP : turn)

    const fault = plan[task.id]
    if (typeof fault === 'object') return stubborn(calls([fault.name, first[1]]))
    switch (fault) {
      case 'number as text':
        return stubborn(calls([first[0], numbersAsText({ limit: 50, ...first[1] })]))
      case 'leaked call':
        return made === 0 ? say(`<tool_call>\n${JSON.stringify({ name: first[0], arguments: first[1] })}\n</tool_call>`) : go(made)
      case 'bad json':
        return stubborn(calls([first[0], `${JSON.stringify(first[1]).slice(0, -1)},}`]))
      case 'wrong path': {
        if (made === 0) return calls([first[0], { ...first[1], path: String(first[1]['path']).replace(/\w(\.\w+)$/, '$1') }])
        const told = /Call instead: (\w+)\((.*)\)$/m.exec(results[0] ?? '')
        if (!told) return GIVES_UP
        return made === 1 ? calls([told[1] as string, JSON.parse(told[2] as string)]) : go(made - 1)
      }
      case 'same call': {
        const blocked = results.findIndex((text) => text.startsWith('blocked'))
        return blocked === -1 ? calls(first) : go(made - blocked)
      }
      case 'empty':
        return made < steps.length || said.at(-1)?.includes('Your last reply was empty') ? go(made) : say('')
      case 'false claim':
        return say(task.wrong[0]?.answer ?? '')
      case 'learns':
        return made === 0 ? calls([first[0], { ...first[1], limit: -5 }]) : go(made - 1)
      case 'patient':
        if (results.some((text) => text.startsWith('blocked'))) return GIVES_UP
        return made < 5 ? calls(first) : go(made - 4)
      default:
        return go(made)
    }
  }

const numbersAsText = (input: object): object =>
  Object.fromEntries(Object.entries(input).map(([key, value]) => [key, typeof value === 'number' ? String(value) : value]))
