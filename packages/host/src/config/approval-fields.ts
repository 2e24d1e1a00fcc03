/** The configuration fields for the mode and the rules. */
import { isAbsolute } from 'node:path'
import { MODES, type Mode, type PolicyRule, stricterMode } from '@mulligan/core'
import { z } from 'zod'
import { add, key, tighten, user } from './project-rules.ts'

const folder = () => z.string().refine((path) => isAbsolute(path) || /^~(?:\/|$)/.test(path), 'a whole path, or one that begins with ~/')
const pattern = () => z.string()

export const approvalFields = () => ({
  mode: key(
    z.enum(MODES).meta({ description: 'How much runs unasked.', default: 'ask' }),
    tighten((theirs: Mode, own) => isStricterMode(theirs, (own('mode') as Mode | undefined) ?? 'ask'), {
      says: 'may make it stricter',
      trustLifts: true,
    }),
  ),
  policy: key(
    z
      .array(
        z
          .strictObject({
            tool: pattern().describe('The name of the tool, with `*`.'),
            effect: z.enum(['read', 'write', 'external']).describe('The effect of the tool.'),
            target: pattern().describe('What the call acts on, with `*`.'),
            input: z.record(z.string().min(1), pattern()).describe('The values of parameters, with `*`, by parameter.'),
            folder: folder().describe('Where it holds: in this folder and what is in it. Default: everywhere.'),
            reason: z.string().min(1).max(500).describe('Told to the model when it is denied.'),
          })
          .partial()
          .extend({ decision: z.enum(['allow', 'ask', 'deny']).describe('What becomes of the call.') }),
      )
      .describe('Rules: what is allowed, asked and denied. The first that matches decides.'),
    add('may deny and ask'),
  ),
  trustedProjects: key(
    z.array(folder()).describe('Folders whose project file may allow what would be asked.'),
    user('says whom you trust'),
  ),
})

const isStricterMode = (a: Mode, b: Mode): boolean => a !== b && stricterMode(a, b) === a

export type ConfiguredRule = PolicyRule & { readonly folder?: string }
