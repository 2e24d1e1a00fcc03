/** The turns still to come, and what went wrong on the way: the state of one scripted model. */
import type { RecordedRequest, Violation } from './request.ts'
import { describeTurn, type ScriptedTurn, type TurnFunction } from './turn.ts'

/** Turns in order; or one function for all of them. */
export type Script = readonly (ScriptedTurn | TurnFunction)[] | TurnFunction

export class ScriptState {
  readonly violations: Violation[] = []
  readonly #turns: (ScriptedTurn | TurnFunction)[] = []
  readonly #otherwise: TurnFunction | undefined
  #taken = 0

  constructor(script: Script, otherwise: TurnFunction | undefined) {
    this.#otherwise = typeof script === 'function' ? script : otherwise
    if (typeof script !== 'function') this.#turns.push(...script)
  }

  push(...turns: readonly (ScriptedTurn | TurnFunction)[]): void {
    this.#turns.push(...turns)
  }

  /** The turn for a request; `undefined` when there is none left. */
  take(request: RecordedRequest): ScriptedTurn | undefined {
    const turn = this.#turns[this.#taken]
    if (turn === undefined) return this.#otherwise?.(request, request.n)
    this.#taken += 1
    return typeof turn === 'function' ? turn(request, request.n) : turn
  }

  violate(request: number, message: string): void {
    this.violations.push({ request, message })
  }

  /** Everything that must not be, one line each. */
  complaints(): string[] {
    const unused = this.#turns
      .slice(this.#taken)
      .map((turn, at) => `turn ${this.#taken + at + 1} was never asked for: ${describeTurn(turn)}`)
    return [...this.violations.map(({ request, message }) => `request ${request}: ${message}`), ...unused]
  }
}
