/** A planned change of notes: shown before it is made, and made by the same code. */
import { ok, type ToolContext, type ToolOk } from '@mulligan/core'
import type { Change } from '@mulligan/tools'
import type { Vault } from '../vault.ts'

export interface Edit {
  readonly path: string
  readonly before: string
  readonly after: string
  readonly created: boolean
}

export interface Plan {
  readonly changes: readonly Change[]
  readonly edits: readonly Edit[]
  readonly data: Readonly<Record<string, unknown>>
  /** What was done, for the model. */
  readonly says: string
  readonly notes?: readonly string[]
  /** Called when it is done. */
  readonly done?: () => void
}

export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

async function diffOf({ edits }: Plan): Promise<string> {
  const { unifiedDiff } = await import('@mulligan/tools')
  return edits.map(({ path, before, after, created }) => unifiedDiff(path, before, after, created).text).join('')
}

/** Returns `execute` and `preview` of a tool from a function that plans its change. */
export function planned<Input>(
  open: () => Promise<Vault>,
  plan: (vault: Vault, input: Input, ctx: Pick<ToolContext, 'signal' | 'progress'>) => Promise<Plan>,
) {
  return {
    preview: async (input: Input): Promise<string | undefined> => {
      const diff = await diffOf(await plan(await open(), input, { signal: new AbortController().signal, progress: () => undefined }))
      return diff === '' ? undefined : diff
    },
    execute: async (input: Input, ctx: ToolContext): Promise<ToolOk> => {
      const vault = await open()
      const made = await plan(vault, input, ctx)
      if (made.changes.length > 0) await vault.apply(ctx, made.changes)
      made.done?.()
      const diff = await diffOf(made)
      const { fenced } = await import('@mulligan/tools')
      const display = diff === '' ? undefined : `${fenced(diff, 'diff')}\nTo undo it: \`mulligan undo\` in the folder of notes.`
      return ok(
        { ...made.data, diff },
        { content: made.says, ...(display !== undefined && { display }), ...(made.notes && { notes: made.notes }) },
      )
    },
  }
}
