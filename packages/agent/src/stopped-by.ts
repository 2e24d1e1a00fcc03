/** Why a turn ended before the model was done. */
export type StoppedBy =
  | 'requests'
  | 'calls'
  | 'tokens'
  | 'cost'
  | 'seconds'
  | 'loop'
  | 'empty'
  | 'provider'
  | 'approval'
  | 'user'
  | 'crash'
  /** The request does not fit the model's context, whatever is left out. */
  | 'context'
  | 'store'
  /** Another process has claimed the session since. */
  | 'taken-over'
