/** Defines a row of the matrix, and helpers to write rows. */
import type { StoppedBy, TurnStatus } from '@mulligan/agent'
import {
  type Protocol as AnyProtocol,
  lastToolResults,
  type RecordedRequest,
  type ScriptedCall,
  type ScriptedTurn,
  type TurnFunction,
} from '@mulligan/testing'

/** The protocols that the command speaks. */
export type Protocol = Exclude<AnyProtocol, 'responses'>

export interface Ending {
  readonly exit: number
  readonly status: TurnStatus
  readonly stoppedBy?: StoppedBy
}

/** One run of the command. */
export interface Run {
  readonly script: readonly (ScriptedTurn | TurnFunction)[]
  readonly flags?: readonly string[]
  /** Default {@link ANSWERED}. */
  readonly ends?: Ending
  /** One line per call of the turn: `TOOL ok`, `TOOL ok 0` if nothing was found, `TOOL STATUS ERRORTYPE`, with `, N left` if a try was spent. */
  readonly calls: readonly string[]
  readonly answer?: RegExp
  /** Texts that must occur in the results sent to the model. */
  readonly told?: readonly RegExp[]
  /** The complete stderr. Default: empty. */
  readonly stderr?: RegExp
  /** The signal is sent as soon as the file exists. */
  readonly interrupt?: { readonly file: string; readonly signal: 'SIGINT' | 'SIGKILL' }
}

export interface Row extends Run {
  readonly name: string
  /** Default: OpenAI. */
  readonly on?: readonly Protocol[]
  /** Continues the session afterwards, in another process. */
  readonly next?: Run
  /** Files in the workspace before the run. */
  readonly given?: Readonly<Record<string, string>>
  /** Files in the workspace afterwards; `undefined` if the file must not exist. */
  readonly files?: Readonly<Record<string, string | undefined>>
  /** Why no corrected call can follow a wrong one. */
  readonly unrepaired?: string
  /** Texts that must occur in the log file. */
  readonly logged?: readonly string[]
  /** No server listens at the model's address. */
  readonly down?: boolean
  /** An additional check of the requests. */
  readonly sent?: (requests: readonly RecordedRequest[]) => void
}

export const BOTH: readonly Protocol[] = ['openai', 'anthropic']
/** Uses Ollama's own API. */
export const ALL: readonly Protocol[] = [...BOTH, 'ollama']
export const ANTHROPIC: readonly Protocol[] = ['anthropic']

export const ANSWERED: Ending = { exit: 0, status: 'answered' }
export const UNAPPROVED: Ending = { exit: 4, status: 'needs_approval', stoppedBy: 'approval' }
export const LOOPED: Ending = { exit: 3, status: 'stopped', stoppedBy: 'loop' }
export const CANCELLED: Ending = { exit: 130, status: 'cancelled', stoppedBy: 'user' }
export const NO_PROVIDER: Ending = { exit: 1, status: 'failed', stoppedBy: 'provider' }

/** Makes the calls that the newest results suggest, unchanged. */
export function suggestedCalls(request: RecordedRequest): ScriptedCall[] {
  const found = lastToolResults(request).flatMap(({ text }) => [...text.matchAll(/^Call instead: ([\w-]+)\((.*)\)$/gm)])
  if (found.length === 0) throw new Error('no result suggests a call')
  return found.map(([, name = '', json = '']) => ({ name, input: JSON.parse(json) as unknown }))
}

/** Lets the model follow the hints. */
export const HEED: ScriptedTurn = { calls: suggestedCalls }

export const times = <T>(count: number, one: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => one(n))
