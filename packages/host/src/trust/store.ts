/**
 * What the user has trusted, by folder: `trust.json` in the data folder. It counts only if it is outside the folder that it describes,
 * which could otherwise have brought it along.
 */
import { realpathSync } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { findUserTools, type UserToolFiles } from '@mulligan/tools'
import type { Env } from '../common/env.ts'
import { UsageError } from '../common/errors.ts'
import { isObject } from '../common/is-object.ts'
import { dataDir, openDataDir, TOOLS_FOLDER } from '../common/paths.ts'
import { readRegular } from '../common/regular-file.ts'
import { foldersTo } from '../common/repository.ts'
import { changing, replaceFile } from '../common/write.ts'

export interface TrustedValue {
  readonly key: string
  readonly value: unknown
}

export interface TrustedFolder {
  /** Hash of the content of its tools. */
  readonly tools?: string
  readonly settings: readonly TrustedValue[]
}

export type TrustedFolders = Readonly<Record<string, TrustedFolder>>

export interface Trust {
  readonly folders: TrustedFolders
  /** Why nothing counts, for the user. */
  readonly problem?: string
}

const FILE = 'trust.json'
const VERSION = 1
const MAX_BYTES = 1_000_000
const NOTHING: Trust = { folders: {} }

/** Reads the user's trust for a folder. A damaged file counts as empty. Never throws. */
export function readTrust(cwd: string, env: Env): Trust {
  let path: string
  try {
    path = join(dataDir(env), FILE)
  } catch {
    return NOTHING
  }
  return isMisplaced(cwd, path) ? { folders: {}, problem: misplaced(path) } : readAt(path)
}

/** A folder could contain a file that declares it trusted. */
const isMisplaced = (cwd: string, path: string): boolean => isWithin(foldersTo(cwd)[0] ?? cwd, realOf(path))
const misplaced = (path: string): string => `${path} is inside the folder it grants trust to, so it is ignored`

function readAt(path: string): Trust {
  const read = readRegular(path, MAX_BYTES)
  if (read.kind === 'absent') return NOTHING
  const folders = read.kind === 'text' && read.isWhole ? foldersIn(read.text) : undefined
  return folders ? { folders } : { folders: {}, problem: `${path} is damaged, so nothing counts as trusted` }
}

function foldersIn(text: string): TrustedFolders | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isObject(value) || value['version'] !== VERSION || !isObject(value['folders'])) return undefined
  const folders: Record<string, TrustedFolder> = Object.create(null)
  for (const [folder, one] of Object.entries(value['folders'])) {
    if (!isObject(one)) return undefined
    const { tools, settings } = one
    folders[folder] = {
      ...(typeof tools === 'string' && { tools }),
      settings: (Array.isArray(settings) ? settings : []).flatMap((each) =>
        isObject(each) && typeof each['key'] === 'string' ? [{ key: each['key'], value: each['value'] }] : [],
      ),
    }
  }
  return folders
}

/** Changes the file; a damaged one is replaced. @throws UsageError if it cannot be written or would not count */
export async function changeTrust(cwd: string, change: (folders: TrustedFolders) => TrustedFolders, env: Env): Promise<void> {
  const path = join(openDataDir(env).dir, FILE)
  if (isMisplaced(cwd, path)) throw new UsageError(misplaced(path), 'Set MULLIGAN_DATA_DIR to a folder outside this one.')
  try {
    await changing(path, () =>
      replaceFile(path, `${JSON.stringify({ version: VERSION, folders: change(readAt(path).folders) }, undefined, 2)}\n`),
    )
  } catch (error) {
    throw new UsageError(
      `trust can't be saved in ${path}: ${(error as NodeJS.ErrnoException).code ?? 'unknown error'}`,
      'Set MULLIGAN_DATA_DIR to a writable folder.',
    )
  }
}

/** Adds to what is trusted in a folder: the latest content of its tools, and every value that was allowed. */
export function withTrusted(folders: TrustedFolders, folder: string, { tools, settings }: TrustedFolder): TrustedFolders {
  const before = folders[folder]
  const kept = (before?.settings ?? []).filter((one) => !settings.some((other) => isDeepStrictEqual(one, other)))
  const content = tools ?? before?.tools
  return { ...folders, [folder]: { ...(content !== undefined && { tools: content }), settings: [...kept, ...settings] } }
}

export const allowsValue = ({ folders }: Trust, folder: string, key: string, value: unknown): boolean =>
  (folders[folder]?.settings ?? []).some((one) => one.key === key && isDeepStrictEqual(one.value, value))

/** Resolves a path whose last parts may not exist yet. */
function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return dirname(path) === path ? path : join(realOf(dirname(path)), basename(path))
  }
}

const isWithin = (folder: string, path: string): boolean => path.startsWith(folder.endsWith(sep) ? folder : folder + sep)

/** The tools of a folder are code that runs outside the sandbox: they are imported only after the user has trusted their content. */
export interface FolderTools {
  readonly found: UserToolFiles
  /** `none`: there is nothing to load. `changed`: an earlier content was trusted. */
  readonly state: 'none' | 'trusted' | 'new' | 'changed'
}

/** Finds a folder's tools. Imports nothing. */
export function folderTools(cwd: string, env: Env): FolderTools {
  const found = findUserTools(join(cwd, TOOLS_FOLDER), cwd)
  if (found.files.length === 0) return { found, state: 'none' }
  const trusted = readTrust(cwd, env).folders[cwd]?.tools
  if (trusted === undefined) return { found, state: 'new' }
  return { found, state: trusted === found.hash ? 'trusted' : 'changed' }
}

export const needsTrust = ({ state }: FolderTools): boolean => state === 'new' || state === 'changed'
