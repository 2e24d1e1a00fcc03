/** One repair of a call, made before the model had to be asked again. */
export interface Repair {
  readonly kind: RepairKind
  /** Path of the parameter; absent if the whole call was meant. */
  readonly parameter?: string
  readonly from: unknown
  readonly to: unknown
  /** Why it is safe, in a few words for the person. */
  readonly why: string
}

export type RepairKind =
  /** The stream or response of the server: ids, indexes, finish reasons. */
  | 'wire'
  /** A call that came as markup in text or reasoning. */
  | 'envelope'
  /** More calls than one reply may have: `from` says how many were left out. */
  | 'dropped'
  | 'name'
  | 'alias'
  | 'adapted'
  | 'parameter'
  | 'json'
  /** Several objects in the place of one. */
  | 'split'
  | 'type'
  | 'unit'
  | 'null_dropped'
  | 'wrapped'
  | 'enum'
  | 'unknown_dropped'
  /** A parameter that tools elsewhere have, and that says nothing here. */
  | 'ignored'

/**
 * How far repair may go. `safe` makes no repair that changes a string value; `full` does, where the result validates;
 * `off` takes a call as it came or not at all.
 */
export type RepairLevel = 'off' | 'safe' | 'full'

/**
 * What a call does: `read` changes nothing, `write` changes this machine inside the workspace and can be undone,
 * `external` leaves the machine (mail, posts, pushes). Undeclared means `external`.
 */
export type Effect = 'read' | 'write' | 'external'

/** Default: `full` for reads, `safe` for whatever has effects. */
export const levelFor = (effect: Effect | undefined): RepairLevel => (effect === 'read' ? 'full' : 'safe')
