/** A rule, how it is taken out, and the test that must then turn red. */
export interface Mutation {
  readonly id: string
  /** The rule, in words. */
  readonly rule: string
  readonly file: string
  /** The function, variable, class or property that holds the code, where the same code occurs elsewhere in the file too. */
  readonly within?: string
  /** Code that occurs exactly once there, however it is laid out, and what it becomes. */
  readonly find: string
  readonly replace: string
  readonly test: { readonly file: string; readonly name: string }
}

export const contract = (name: string): Mutation['test'] => ({ file: 'packages/core/src/contract.test.ts', name })
export const agent = (name: string): Mutation['test'] => ({ file: 'packages/agent/src/agent.test.ts', name })
export const repaired = (name: string): Mutation['test'] => ({ file: 'packages/agent/src/repair.test.ts', name })
export const repair = (file: string): string => `packages/repair/src/${file}`
export const tools = (file: string): string => `packages/tools/src/${file}`
export const core = (file: string): string => `packages/core/src/${file}`
