/** The built-in agents. Has no imports at run time, because shell completion uses it. */
import type { Origin } from '../common/setting.ts'

export interface NamedAgent {
  readonly name: string
  readonly description: string
  readonly prompt: string
  /** Names of tools; may contain `*`. Default: all tools. */
  readonly tools?: readonly string[]
  /** The agent has only tools with the effect `read`. */
  readonly readOnly?: boolean
  readonly model?: string
  readonly origin: Origin
  readonly from: string
}

export const builtIn = { origin: 'default', from: 'built-in' } as const

export const BUILT_IN_AGENTS: readonly NamedAgent[] = [
  { ...builtIn, name: 'build', description: 'Does the work, with all tools.', prompt: '' },
  {
    ...builtIn,
    name: 'plan',
    description: 'Makes a plan and changes nothing.',
    prompt:
      'You plan and change nothing: you have only tools that read. Look at what is there, then answer with a plan: the steps in order, the files each one touches, how to check it, and open questions.',
    readOnly: true,
  },
  {
    ...builtIn,
    name: 'ask',
    description: 'Answers questions and changes nothing.',
    prompt: 'You answer a question and change nothing: you have only tools that read. Answer from what you have read, and name the places.',
    readOnly: true,
  },
]
