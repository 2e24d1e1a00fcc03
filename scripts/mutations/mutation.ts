/** A rule, how it is removed, and the test that must fail then. */
export interface Mutation {
  readonly id: string
  /** A description of the rule. */
  readonly rule: string
  readonly file: string
  /** The function, variable, class or property that contains the code, if the same code also occurs elsewhere in the file. */
  readonly within?: string
  /** Code that occurs exactly once there, in any formatting, and its replacement. */
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
