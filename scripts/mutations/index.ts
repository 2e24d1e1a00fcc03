/** Every rule that `npm run mutate` takes out. */
import { AGENT } from './agent.ts'
import { CONTRACT } from './contract.ts'
import type { Mutation } from './mutation.ts'
import { REPAIR } from './repair.ts'
import { TOOLS } from './tools.ts'

export const MUTATIONS: readonly Mutation[] = [...CONTRACT, ...REPAIR, ...AGENT, ...TOOLS]
