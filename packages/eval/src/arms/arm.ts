/** The ways in which a task is given to a model. They differ only in what stands between the model and the tools. */
import type { Tool } from '@mulligan/core'
import type { Repair, RepairKind } from '@mulligan/core/executor'
import type { ConfiguredModel } from '@mulligan/host/parts'

export const ARMS = ['bare', 'repair', 'full'] as const
/** How a task is given to the model. `bare`: a plain tool loop. `repair`: the same loop with repaired calls. `full`: the engine. */
export type Arm = (typeof ARMS)[number]

/** How a run ended: with an answer, without text, at the request limit, by the loop guard, by a failing server, or by its time limit. */
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
  /** For each repaired call, the kinds of its repairs without duplicates. */
  readonly repaired: readonly (readonly RepairKind[])[]
}

export const kindsOf = (repairs: readonly Repair[]): readonly RepairKind[] => [...new Set(repairs.map(({ kind }) => kind))]
