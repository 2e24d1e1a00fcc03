/** Opens the tools for notes, if a folder of notes is configured. Loads their package only then; it is optional to install. */
import { join } from 'node:path'
import type { NotesTools as Opened } from '@mulligan/assistant'
import type { Env } from '../common/env.ts'
import { openDataDir, toHome } from '../common/paths.ts'
import type { Settings } from '../config/settings.ts'
import { optionalAssistant } from './optional-assistant.ts'

export interface NotesTools extends Opened {
  /** Why configured tools are missing. */
  readonly problem?: string
}

const NONE: NotesTools = { tools: [], close: () => undefined }

export interface NotesToolsOptions {
  readonly env: Env
  /** Where changes are recorded. */
  readonly changes?: string | undefined
  /** The calls are made by a person, who sees the notes. */
  readonly byHand: boolean
}

export async function openNotes(
  { notesVault }: Pick<Settings, 'notesVault'>,
  { env, changes, byHand }: NotesToolsOptions,
): Promise<NotesTools> {
  if (!notesVault) return NONE
  const assistant = await optionalAssistant()
  if (!assistant) return { ...NONE, problem: `${notesVault.from} sets notes.vault, and @mulligan/assistant is not installed` }
  return assistant.notesTools({
    vault: toHome(notesVault.value, env),
    indexes: join(openDataDir(env).dir, 'notes'),
    changes,
    trustPresent: byHand,
  })
}
