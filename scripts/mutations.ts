/** The rules of the contract, how each is taken out, and the test that must then turn red. */
export interface Mutation {
  readonly id: string
  /** The rule, in words. */
  readonly rule: string
  readonly file: string
  /** Text that stands exactly once in the file, and what it becomes. */
  readonly find: string
  readonly replace: string
  readonly test: { readonly file: string; readonly name: string }
}

export const MUTATIONS: readonly Mutation[] = []
