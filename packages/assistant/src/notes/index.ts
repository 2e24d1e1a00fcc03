/** The tools for notes: an Obsidian vault, or any folder of Markdown. */
import type { Tool } from '@mulligan/core'
import { appendNoteTool } from './tools/append-note.ts'
import { backlinksTool } from './tools/backlinks.ts'
import { listNotesTool } from './tools/list-notes.ts'
import { moveNoteTool } from './tools/move-note.ts'
import { readNoteTool } from './tools/read-note.ts'
import { searchNotesTool } from './tools/search-notes.ts'
import { writeNoteTool } from './tools/write-note.ts'
import { lazyVault, type NotesOptions } from './vault.ts'

export type { NotesOptions } from './vault.ts'

export interface NotesTools {
  readonly tools: readonly Tool[]
  /** Closes the index, and stops watching the folder. */
  readonly close: () => void
}

/**
 * Creates the tools. The folder is opened with the first call.
 *
 * @example
 * const { tools, close } = notesTools({ vault: '/home/ann/notes', indexes: '/home/ann/.cache/notes' })
 */
export function notesTools(options: NotesOptions): NotesTools {
  const { open, close } = lazyVault(options)
  const make = [searchNotesTool, listNotesTool, readNoteTool, writeNoteTool, appendNoteTool, backlinksTool, moveNoteTool]
  return { tools: make.map((one) => one(open)), close }
}
