/**
 * A turn that waits for a person is parked: it is unwound, its questions are in the store, and nothing of it stays in the process. Resuming
 * it replays the turn up to the question, which is then answered from the store.
 */
import { createHash } from 'node:crypto'
import type { ApprovalRequest } from '@mulligan/core'
import { canonical } from '@mulligan/core/executor'

/** What is asked. `approval`: whether a call may run. `decision`: whether the changes that it made on its layer are kept. */
export type ApprovalKind = 'approval' | 'decision'

/** A person's answer to a parked question, as the host understands it. */
export interface StoredAnswer {
  readonly answer: 'once' | 'session' | 'always' | 'no' | 'superseded'
  /** Passed on to the model. */
  readonly reason?: string
  /** Which of the offered rules "always" writes. */
  readonly offer?: number
}

/** Returned in place of a decision: the turn is parked until the question is answered. */
export interface Parking {
  /** What a front end shows. Plain JSON. */
  readonly question: object
}

/** A question to be stored. */
export interface ParkedCall extends Parking {
  readonly callId: string
  readonly kind: ApprovalKind
  /** Hash of what is asked: an answer applies to this effect only. */
  readonly hash: string
}

/** Unwinds a turn to its store. */
export class TurnParked extends Error {
  readonly calls: readonly ParkedCall[]
  constructor(calls: readonly ParkedCall[]) {
    super('the turn waits for approval')
    this.name = 'TurnParked'
    this.calls = calls
  }
}

/** Returns the hash of the effect that is asked about: the tool and its input or, of a call that already ran, its change set. */
export const hashOf = ({ tool, input, changes }: Pick<ApprovalRequest, 'tool' | 'input' | 'changes'>): string =>
  createHash('sha256')
    .update(`${tool}\0${canonical(input)}\0${changes?.hash ?? ''}`)
    .digest('hex')
