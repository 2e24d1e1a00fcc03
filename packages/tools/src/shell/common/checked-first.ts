/** A tool whose input is also looked at in itself, before anybody is asked about the call. */
import type { Issue, Tool } from '@mulligan/core'

type Found = Issue | undefined

/** @param wrong a promise only where it must wait: a check that waits can't be made everywhere */
export function checkedFirst<Input>(tool: Tool, wrong: (input: Input) => Found | Promise<Found>): Tool {
  const { check } = tool.check
  return {
    ...tool,
    check: {
      ...tool.check,
      check: (value) => {
        const first = check(value)
        if ('then' in first || !first.ok) return first
        const found = wrong(first.value as Input)
        const told = (issue: Found) => (issue ? { ok: false as const, issues: [issue] } : first)
        return found && 'then' in found ? found.then(told) : told(found)
      },
    },
  }
}
