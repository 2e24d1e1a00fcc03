/** The ways a task is given to a model. They differ in what is between the model and the tools, and in nothing else. */
import type { Repair, RepairKind, Tool } from '@mulligan/core'
import type { ConfiguredModel } from '@mulligan/host/parts'

export const ARMS = ['bare', 'repair', 'full'] as const
/** How a task is given to the model. `bare`: a plain loop. `repair`: the same, with calls repaired. `full`: the engine. */
export type Arm = (typeof ARMS)[number]

/** How a run ended: with an answer, without words, by a limit, by the loop guard, by the model's server, or cut off by its time. */
export type Ended = 'answered' | 'empty' | 'requests' | 'loop' | 'provider' | 'timeout'

export interface ArmInput {
  readonly configured: ConfiguredModel
  readonly tools: readonly Tool[]
  /** The workspace. */
  readonly dir: string
  readonly outputs: string
  readonly prompt: string
  readonly maxRequests: number
  readonly signal: AbortSignal
}

export interface ArmOutcome {
  readonly ended: Exclude<Ended, 'timeout'>
  readonly answer: string
  readonly calls: number
  /** Of each call that was repaired, the kinds of its repairs, each once. */
  readonly repaired: readonly (readonly RepairKind[])[]
}

export const kindsOf = (repairs: readonly Repair[]): readonly RepairKind[] => [...new Set(repairs.map(({ kind }) => kind))]
