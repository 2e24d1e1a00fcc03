import { clonePlain } from '@mulligan/repair'
import type { Tool } from './tool.ts'

/**
 * Returns what a call would change, for the person who is asked. Returns `undefined` if the tool cannot tell; show the input instead.
 * @param input as given in the question
 * @example
 * approve: async (request) => ask(request, await previewOf(toolOf(request), request.input))
 */
export async function previewOf(tool: Pick<Tool, 'check' | 'preview'>, input: unknown): Promise<string | undefined> {
  if (!tool.preview) return undefined
  try {
    const checked = await tool.check.check(clonePlain(input))
    return checked.ok
      ? await (tool.preview as (input: unknown) => string | undefined | Promise<string | undefined>)(checked.value)
      : undefined
  } catch {
    return undefined
  }
}
