/** An effective value and where it comes from. */

export type Origin = 'flag' | 'env' | 'project' | 'user' | 'default'

export interface Setting<T> {
  readonly value: T
  readonly origin: Origin
  /** For the user: `--model`, `MULLIGAN_MODEL`, `mulligan.json`. */
  readonly from: string
}
