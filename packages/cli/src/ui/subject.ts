import type { Tool } from '@mulligan/core'

/** They act on a folder; what they look for says more. */
const SEARCHES: ReadonlySet<string> = new Set(['glob', 'grep'])

/** What a call acts on, as its tool says it; the input where the tool is unknown or the input is not what it takes. */
export function subjectOf(tools: readonly Tool[]): (tool: string, input: unknown) => string {
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  return (name, input) => {
    try {
      if (SEARCHES.has(name) && typeof (input as { pattern?: unknown }).pattern === 'string') return (input as { pattern: string }).pattern
      const target: unknown = byName.get(name)?.target(input as never)
      if (Array.isArray(target) && target.length > 0) return target.join(', ')
      if (typeof target === 'string' && target !== '') return target
    } catch {
      // not the input it takes: shown as it is
    }
    return typeof input === 'string' ? input : input === undefined || isEmpty(input) ? '' : (JSON.stringify(input) ?? '')
  }
}

const isEmpty = (input: unknown): boolean => typeof input === 'object' && input !== null && Object.keys(input).length === 0
