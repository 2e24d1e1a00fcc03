/** Tools that run on a throwaway layer: they run first, and their effects are approved afterwards. */

/**
 * How a call is confined. `layer`: it runs on a throwaway layer and takes effect only when its changes are kept. `read-only`: it runs
 * where it cannot change anything. `direct`: it runs with its tool's declared effect.
 */
export type Confinement = 'layer' | 'read-only' | 'direct'

/** The changes a call made on its layer. Plain data: nothing has taken effect yet, and the decision may come later, in another process. */
export interface ProposedChanges {
  /** The layer's id, for the tool. */
  readonly id: string
  /** Hash of all the changes. A decision applies to this change set only. */
  readonly hash: string
  /** The paths that would change. */
  readonly targets: readonly string[]
  /** A short summary: "2 files changed, 1 deleted". */
  readonly summary: string
  /** The changes as a unified diff, for the person. */
  readonly diff?: string
  /** The reason why only a person may decide, such as "it changes git hooks". */
  readonly forced?: string
}

/** A tool's use of layers. A field of the tool, so that no other place needs to know which tools have one. */
export interface LayerUse<Input = never> {
  /** Returns how this call is confined. */
  readonly confinement: (input: Input) => Confinement | Promise<Confinement>
  /**
   * Applies the changes, all or none.
   * @returns sentences for the model
   * @throws ModelRetry (conflict) if the files have changed since; ToolFailure
   */
  readonly keep: (changes: ProposedChanges, callId: string) => Promise<readonly string[]>
  readonly discard: (changes: ProposedChanges) => Promise<void>
  /** Stores the changes, so that another process can keep or discard them. If absent, they end with this process. */
  readonly park?: (changes: ProposedChanges) => Promise<void>
}
