/**
 * Looks up values for shell completion. It loads nothing slow and ignores what it cannot read: the user is waiting, and no answer is better
 * than a late one.
 */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import {
  BUILT_IN_AGENTS,
  dataDir,
  ownPath,
  parseJsonc,
  projectPlace,
  readRegular,
  readRemembered,
  TOOLS_FOLDER,
  userPlace,
  valueAt,
} from '@mulligan/host/light'
import { allKeys, choicesOf } from '../../config-keys.ts'
import type { Candidate, ValueKind, Wanted } from './complete.ts'

type Source = (cwd: string, key: string | undefined) => readonly Candidate[] | Promise<readonly Candidate[]>

const SOURCES: Readonly<Record<Exclude<ValueKind, 'folder' | 'file'>, Source>> = {
  session: (cwd) => sessionsOf(cwd),
  agent: (cwd) =>
    names([
      ...BUILT_IN_AGENTS.map(({ name }) => name),
      ...agentFiles(cwd),
      ...configs(cwd).flatMap((one) => keysOf(valueAt(one, ['agents']))),
    ]),
  model: (cwd) => names([...usedModels(), ...configs(cwd).flatMap((one) => textsOf(valueAt(one, ['model'])))]),
  tool: async (cwd) => names([...(await import('./tool-names.ts')).toolNames(cwd), ...filesIn(join(cwd, TOOLS_FOLDER), /\.(?:ts|m?js)$/)]),
  key: () => allKeys().map(({ key, node }) => ({ value: key, says: node.description ?? '' })),
  keyValue: (_, key) => names(choicesOf(key ?? '')),
}

/** Values that are a single plain word in every shell. Others are left out, because values are inserted into the command line unquoted. */
const PLAIN = /^[\w.:/@+-]+$/

export async function valuesFor({ kind, key }: Wanted, cwd: string): Promise<readonly Candidate[]> {
  if (kind === 'folder' || kind === 'file') return []
  const found = await (async () => SOURCES[kind](cwd, key))().catch((): readonly Candidate[] => [])
  return found.filter(({ value }) => PLAIN.test(value) && !value.startsWith('-'))
}

const names = (all: readonly string[]): readonly Candidate[] => [...new Set(all)].map((value) => ({ value }))
const MOST = 50

/** Returns the chosen model and those of the latest turns. */
function usedModels(): readonly string[] {
  const chosen = readRemembered(process.env)
  const used = attempt(() => rowsOf('SELECT model FROM turns ORDER BY seq DESC LIMIT ?', MOST), [])
  return [...(chosen ? [`${chosen.provider}/${chosen.name}`] : []), ...used.map(({ model }) => String(model))]
}

const sessionsOf = (cwd: string): readonly Candidate[] =>
  rowsOf('SELECT id, title FROM sessions WHERE cwd = ? ORDER BY updated_at DESC LIMIT ?', cwd, MOST).map(({ id, title }) => ({
    value: String(id),
    says: String(title),
  }))

/** Reads the database directly, because the store's library takes too long to load for a completion. */
function rowsOf(query: string, ...parameters: (string | number)[]): readonly Readonly<Record<string, unknown>>[] {
  const file = join(dataDir(process.env), 'mulligan.db')
  if (!existsSync(file)) return []
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    return database.prepare(query).all(...parameters)
  } finally {
    database.close()
  }
}

const agentFiles = (cwd: string): readonly string[] =>
  [join(cwd, '.mulligan', 'agents'), ownPath('agents', process.env) ?? ''].flatMap((folder) => filesIn(folder, /\.md$/))

/** Returns file names without their extension. */
function filesIn(folder: string, ending: RegExp): readonly string[] {
  return attempt(() => readdirSync(folder).filter((file) => ending.test(file)), []).map((file) => file.replace(ending, ''))
}

/** Returns both configuration files as parsed, without validating them. */
const configs = (cwd: string): readonly unknown[] =>
  attempt(() => [projectPlace(cwd), userPlace(process.env)], []).flatMap(({ path }) => {
    const read = readRegular(path, MAX_BYTES)
    const parsed = read.kind === 'text' ? parseJsonc(read.text) : undefined
    return parsed?.ok ? [parsed.value] : []
  })

const MAX_BYTES = 1_000_000

const keysOf = (value: unknown): readonly string[] => (typeof value === 'object' && value !== null ? Object.keys(value) : [])
const textsOf = (value: unknown): readonly string[] => (typeof value === 'string' ? [value] : [])

function attempt<T>(get: () => T, otherwise: T): T {
  try {
    return get()
  } catch {
    return otherwise
  }
}
