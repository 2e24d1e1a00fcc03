/** The tools of a folder are code that runs outside the sandbox: they are imported after the person has trusted their content. */
import { join } from 'node:path'
import { findUserTools, type UserToolFiles } from '@mulligan/tools'
import type { Env } from '../common/env.ts'
import { TOOLS_FOLDER } from '../common/paths.ts'
import { readTrust } from './store.ts'

export interface FolderTools {
  readonly found: UserToolFiles
  /** `none`: nothing is there to load. `changed`: an earlier content was trusted. */
  readonly state: 'none' | 'trusted' | 'new' | 'changed'
}

/** Imports nothing. */
export function folderTools(cwd: string, env: Env): FolderTools {
  const found = findUserTools(join(cwd, TOOLS_FOLDER), cwd)
  if (found.files.length === 0) return { found, state: 'none' }
  const trusted = readTrust(cwd, env).folders[cwd]?.tools
  if (trusted === undefined) return { found, state: 'new' }
  return { found, state: trusted === found.hash ? 'trusted' : 'changed' }
}

export const needsTrust = ({ state }: FolderTools): boolean => state === 'new' || state === 'changed'
