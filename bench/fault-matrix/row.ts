/** What a row of the matrix is: data, and the few words it is written in. */
import type { StoppedBy, TurnStatus } from '@mulligan/agent'
import { lastToolResults, type Protocol, type RecordedRequest, type ScriptedCall, type ScriptedTurn } from '@mulligan/testing'

export interface Ending {
  readonly exit: number
  readonly status: TurnStatus
  readonly stoppedBy?: StoppedBy
}

/** One run of the command. */
export interface Run {
  readonly script: readonly ScriptedTurn[]
  readonly flags?: readonly string[]
  /** Default {@link ANSWERED}. */
  readonly ends?: Ending
  /** Each call of the turn in a line: `TOOL ok`, `TOOL ok 0` for nothing found, `TOOL STATUS ERRORTYPE`, ` N left` where a try was spent. */
  readonly calls: readonly string[]
  readonly answer?: RegExp
  /** Each is in some result that the model was sent. */
  readonly told?: readonly RegExp[]
  /** All of stderr. Default: nothing. */
  readonly stderr?: RegExp
  /** The signal is sent as soon as the file is there. */
  readonly interrupt?: { readonly file: string; readonly signal: 'SIGINT' | 'SIGKILL' }
}

export interface Row extends Run {
  readonly name: string
  /** Default: OpenAI's. */
  readonly on?: readonly Protocol[]
  /** The same session afterwards, in another process. */
  readonly next?: Run
  /** What is in the workspace before. */
  readonly given?: Readonly<Record<string, string>>
  /** What is in it afterwards; `undefined`: no such file. */
  readonly files?: Readonly<Record<string, string | undefined>>
  /** Why no corrected call can follow a wrong one here. */
  readonly unrepaired?: string
  /** Texts in the log file. */
  readonly logged?: readonly string[]
  /** Nobody listens at the model's address. */
  readonly down?: boolean
  /** A further look at the requests. */
  readonly sent?: (requests: readonly RecordedRequest[]) => void
}

export const BOTH: readonly Protocol[] = ['openai', 'anthropic']
/** With Ollama's own API. */
export const ALL: readonly Protocol[] = [...BOTH, 'ollama']
export const ANTHROPIC: readonly Protocol[] = ['anthropic']

export const ANSWERED: Ending = { exit: 0, status: 'answered' }
export const UNAPPROVED: Ending = { exit: 4, status: 'needs_approval', stoppedBy: 'approval' }
export const LOOPED: Ending = { exit: 3, status: 'stopped', stoppedBy: 'loop' }
export const CANCELLED: Ending = { exit: 130, status: 'cancelled', stoppedBy: 'user' }
export const NO_PROVIDER: Ending = { exit: 1, status: 'failed', stoppedBy: 'provider' }

/** The calls that the results just read suggest, as they stand. */
export function suggestedCalls(request: RecordedRequest): ScriptedCall[] {
  const found = lastToolResults(request).flatMap(({ text }) => [...text.matchAll(/^Call instead: ([\w-]+)\((.*)\)$/gm)])
  if (found.length === 0) throw new Error('no result suggests a call')
  return found.map(([, name = '', json = '']) => ({ name, input: JSON.parse(json) as unknown }))
}

/** The model does what the hints say. */
export const HEED: ScriptedTurn = { calls: suggestedCalls }

export const times = <T>(count: number, one: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => one(n))
