/** The user's `experimental_refineToolInput`: applied once to each call, before the engine decides about it. */
import { canonical } from '@mulligan/repair'
import type { Settings } from './settings.ts'

type Refine = (input: unknown) => unknown
export type Refinement = ReturnType<typeof createRefinement>

export function createRefinement({ experimental_refineToolInput: theirs }: Settings) {
  /** Refined values that the SDK has not asked for yet, by tool and unrefined value. */
  const refined = new Map<string, unknown[]>()
  const keyOf = (tool: string, input: unknown): string => `${tool} ${canonical(input)}`
  const theirsFor = (tool: string): Refine | undefined => (theirs && Object.hasOwn(theirs, tool) ? theirs[tool] : undefined)

  /** For the engine. Undefined if the input of this tool is not refined. */
  function forEngine(tool: string): Refine | undefined {
    const refine = theirsFor(tool)
    if (!refine) return undefined
    return async (input) => {
      const key = keyOf(tool, input)
      const value = await refine(input)
      refined.set(key, [...(refined.get(key) ?? []), value])
      return value
    }
  }

  /** For the SDK, which refines the same input again: it gets the value that was decided about. */
  const forSdk = theirs && {
    experimental_refineToolInput: Object.fromEntries(
      Object.entries(theirs).map(([tool, refine]): [string, Refine] => [
        tool,
        (input) => {
          const [value, ...more] = refined.get(keyOf(tool, input)) ?? []
          if (value === undefined) return refine(input)
          refined.set(keyOf(tool, input), more)
          return value
        },
      ]),
    ),
  }

  return { forEngine, forSdk }
}
