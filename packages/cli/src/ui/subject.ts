import type { Tool } from '@mulligan/core'

/** What a call acts on, as its tool says it; the input where the tool is unknown or the input is not what it takes. */
export function subjectOf(tools: readonly Tool[]): (tool: string, input: unknown) => string {
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  return (name, input) => {
    try {
      const tool = byName.get(name)
      const telling: unknown = tool?.subject?.(input as never)
      if (typeof telling === 'string') return telling.split('\n')[0] ?? ''
      const target: unknown = tool?.target(input as never)
      if (Array.isArray(target) && target.length > 0) return target.join(', ')
      if (typeof target === 'string' && target !== '') return target
    } catch {
      // not the input it takes: shown as it is
    }
    return typeof input === 'string' ? input : input === undefined || isEmpty(input) ? '' : (JSON.stringify(input) ?? '')
  }
}

const isEmpty = (input: unknown): boolean => typeof input === 'object' && input !== null && Object.keys(input).length === 0
