/** Tools that run on a throwaway layer: they run first, and their effects are approved afterwards. */

/**
 * How a call runs. `layer`: on a throwaway layer, so that it takes effect only when its changes are kept. `read-only`: where it can
 * change nothing. `direct`: with the effect that its tool says.
 */
export type Confinement = 'layer' | 'read-only' | 'direct'

/** What a call did on its layer. Plain data: nothing of it has taken effect, and the decision may come later, in another process. */
export interface ProposedChanges {
  /** Names the layer, for the tool. */
  readonly id: string
  /** Of all that would change. A decision holds for this change set alone. */
  readonly hash: string
  /** What would change: paths. */
  readonly targets: readonly string[]
  /** In a few words: "2 files changed, 1 deleted". */
  readonly summary: string
  /** As a unified diff, for the person. */
  readonly diff?: string
  /** Why only a person may decide, such as "it changes git hooks". */
  readonly forced?: string
}

/** What a tool says of its layer. A field of the tool, so that no other place needs to know which tools have one. */
export interface LayerUse<Input = never> {
  /** How this call runs. */
  readonly confinement: (input: Input) => Confinement | Promise<Confinement>
  /**
   * Makes the changes, all or none.
   * @returns sentences that the model should know
   * @throws ModelRetry (conflict) when what they apply to has changed since; ToolFailure
   */
  readonly keep: (changes: ProposedChanges, callId: string) => Promise<readonly string[]>
  readonly discard: (changes: ProposedChanges) => Promise<void>
}
