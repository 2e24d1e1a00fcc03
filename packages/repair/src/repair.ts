/** One repair of a call, made before the model had to be asked again. */
export interface Repair {
  readonly kind: RepairKind
  /** Path of the parameter; absent if the repair concerns the whole call. */
  readonly parameter?: string
  readonly from: unknown
  readonly to: unknown
  /** Why the repair is safe, in a few words for the user. */
  readonly why: string
}

export type RepairKind =
  /** The server's stream or response: ids, indexes, finish reasons. */
  | 'wire'
  /** A call found as markup in text or reasoning. */
  | 'envelope'
  /** Too many calls in one reply: `from` is the number left out. */
  | 'dropped'
  | 'name'
  | 'alias'
  | 'adapted'
  | 'parameter'
  | 'json'
  /** Several objects instead of one. */
  | 'split'
  | 'type'
  | 'unit'
  | 'null_dropped'
  | 'wrapped'
  | 'enum'
  | 'unknown_dropped'
  /** A parameter of similar tools elsewhere that has no meaning here. */
  | 'ignored'

/**
 * How much may be repaired. `safe` makes no repair that changes a string value; `full` does, if the result validates; `off` accepts a
 * call only as received.
 */
export type RepairLevel = 'off' | 'safe' | 'full'

/**
 * The effect of a call: `read` changes nothing, `write` changes this machine inside the workspace and can be undone, `external` leaves
 * the machine (mail, posts, pushes). The default is `external`.
 */
export type Effect = 'read' | 'write' | 'external'

/** Returns the default repair level: `full` for reads, `safe` for tools with effects. */
export const levelFor = (effect: Effect | undefined): RepairLevel => (effect === 'read' ? 'full' : 'safe')
