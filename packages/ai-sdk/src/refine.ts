/** The user's `experimental_refineToolInput`: applied once to each call, before the engine decides about it. */
import { canonical } from '@mulligan/repair'
import { isHarmlessText } from './harmless.ts'
import type { Settings } from './settings.ts'

type Refine = (input: unknown) => unknown
export type Refinement = ReturnType<typeof createRefinement>

export function createRefinement({ experimental_refineToolInput: theirs }: Settings) {
  /** What became of values, which the SDK has not asked for yet, by tool and unrefined value. */
  const refined = new Map<string, (() => unknown)[]>()
  const keyOf = (tool: string, input: unknown): string => `${tool} ${canonical(input)}`
  const theirsFor = (tool: string): Refine | undefined => (theirs && Object.hasOwn(theirs, tool) ? theirs[tool] : undefined)

  /** For the engine. Undefined if the input of this tool is not refined. */
  function forEngine(tool: string): Refine | undefined {
    const refine = theirsFor(tool)
    if (!refine) return undefined
    return async (input) => {
      const key = keyOf(tool, input)
      const add = (outcome: () => unknown) => refined.set(key, [...(refined.get(key) ?? []), outcome])
      try {
        const value = await refine(input)
        add(() => value)
        return value
      } catch (error) {
        add(() => {
          // The engine has logged the exception, whose message may hold a secret.
          throw isHarmlessText(error) ? error : new Error(`The input of ${tool} could not be refined.`)
        })
        throw error
      }
    }
  }

  /** For the SDK, which refines the same input again: it gets the value that was decided about. */
  const forSdk = theirs && {
    experimental_refineToolInput: Object.fromEntries(
      Object.entries(theirs).map(([tool, refine]): [string, Refine] => [
        tool,
        (input) => {
          const [outcome, ...more] = refined.get(keyOf(tool, input)) ?? []
          if (!outcome) return refine(input)
          refined.set(keyOf(tool, input), more)
          return outcome()
        },
      ]),
    ),
  }

  return { forEngine, forSdk }
}
