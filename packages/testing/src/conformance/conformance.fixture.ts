/** Notes in memory, so that tests do not depend on the speed of a disk, and tools for them: a correct one to vary. */
import { defineTool, empty, ModelRetry, ok, type Tool, type ToolContext, type ToolDefinition } from '@mulligan/core'
import { z } from 'zod'
import type { ConformanceOptions } from './conformance.ts'

type Notes = Map<string, string>
type Definition = ToolDefinition<{ path: string }>

const folders = new Map<string, Notes>()
let opened = 0

export const notesIn = (dir: string): Notes => folders.get(dir) as Notes

export const inMemory: ConformanceOptions = {
  timeoutMs: 1500,
  workspace: async () => {
    const dir = `/memory/${++opened}`
    const notes: Notes = new Map()
    folders.set(dir, notes)
    return {
      dir,
      write: async (files) => {
        for (const [path, text] of Object.entries(files)) notes.set(path, text)
      },
      snapshot: async () => new Map(notes),
      remove: async () => void folders.delete(dir),
    }
  },
}

export const FILES = { 'a.md': 'Buy milk.' }

export const missing = (path: string): ModelRetry =>
  new ModelRetry(`No note "${path}".`, {
    errorType: 'not_found',
    parameter: 'path',
    value: path,
    constraint: 'an existing note',
    suggestion: 'a.md',
  })

/** Reads a note. Handles existing, empty and missing notes correctly. */
export function read(notes: Notes, path: string) {
  const text = notes.get(path)
  if (text === undefined) throw missing(path)
  return text === '' ? empty('', `"${path}" is empty.`) : ok(text)
}

export function readNote(notes: Notes, more: Partial<Definition> = {}): Tool {
  return defineTool({
    name: 'read_note',
    description: 'Reads a note.',
    input: z.object({ path: z.string() }),
    effect: 'read',
    examples: [
      { outcome: 'ok', input: { path: 'a.md' }, files: FILES },
      { outcome: 'empty', input: { path: 'blank.md' }, files: { 'blank.md': '' } },
      { outcome: 'retry', input: { path: 'b.md' }, files: FILES },
    ],
    execute: ({ path }) => read(notes, path),
    ...more,
  })
}

/** Completes a note; `work` determines how. */
export function endNote(notes: Notes, work: (write: () => void, ctx: ToolContext) => Promise<void>, more: Partial<Definition> = {}): Tool {
  return readNote(notes, {
    name: 'end_note',
    effect: 'write',
    examples: [
      { outcome: 'ok', input: { path: 'a.md' }, files: FILES },
      { outcome: 'retry', input: { path: 'b.md' }, files: FILES },
    ],
    execute: async ({ path }, ctx) => {
      if (!notes.has(path)) throw missing(path)
      await work(() => notes.set(path, `${notes.get(path)} The end.`), ctx)
      return ok({ path })
    },
    ...more,
  })
}
