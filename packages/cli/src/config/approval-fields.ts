/** What may stand in a configuration file about the mode and the rules. */
import { isAbsolute } from 'node:path'
import { MODES, type PolicyRule } from '@mulligan/core'
import { z } from 'zod'

const folder = z.string().refine((path) => isAbsolute(path) || /^~(?:\/|$)/.test(path), 'a whole path, or one that begins with ~/')
const pattern = z.string()

export const approvalFields = {
  mode: z.enum(MODES),
  policy: z.array(
    z
      .strictObject({
        tool: pattern,
        effect: z.enum(['read', 'write', 'external']),
        target: pattern,
        /** By parameter. */
        input: z.record(z.string().min(1), pattern),
        /** Where it holds: in this folder and what is in it. Default: everywhere. */
        folder,
        reason: z.string().min(1).max(500),
      })
      .partial()
      .extend({ decision: z.enum(['allow', 'ask', 'deny']) }),
  ),
  /** Folders whose own file may allow what would be asked. */
  trustedProjects: z.array(folder),
}

export type ConfiguredRule = PolicyRule & { readonly folder?: string }
