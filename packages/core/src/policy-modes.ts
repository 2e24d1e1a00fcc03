/** The modes, which define what runs without asking. */
import { defaultPolicy, type Policy } from './policy.ts'

/** The strictest first. */
export const MODES = ['read-only', 'ask', 'auto-edit', 'auto'] as const
export type Mode = (typeof MODES)[number]

export const stricterMode = (a: Mode, b: Mode): Mode => (MODES.indexOf(a) <= MODES.indexOf(b) ? a : b)

/**
 * `read-only` denies what has an effect, `ask` asks about it, `auto-edit` allows the tools that edit files and keeps what calls
 * changed on their layers, `auto` allows all that stays on this machine. What leaves it asks even then.
 * @param edits whether a tool changes files of the workspace and nothing else. Default: none does
 */
export function modePolicy(mode: Mode, edits: (tool: string) => boolean = () => false): Policy {
  return (request) => {
    const { tool, effect, changes } = request
    if (effect === 'read' || mode === 'ask') return defaultPolicy(request)
    if (mode === 'read-only') return { decision: 'deny', reason: 'The mode is read-only: nothing may be changed, and nothing sent.' }
    if (effect === 'write' && (mode === 'auto' || changes !== undefined || edits(tool)))
      return { decision: 'allow', reason: `the mode is ${mode}` }
    return defaultPolicy(request)
  }
}
