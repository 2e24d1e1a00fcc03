/** Values that are looked up for the shell. Nothing slow is loaded, and what can't be read has none: a key was pressed, and no answer is better than a late one. */
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

/** What would not be one plain word in every shell is left out: it would be put into the command line as it is. */
const PLAIN = /^[\w.:/@+-]+$/

export async function valuesFor({ kind, key }: Wanted, cwd: string): Promise<readonly Candidate[]> {
  if (kind === 'folder' || kind === 'file') return []
  const found = await (async () => SOURCES[kind](cwd, key))().catch((): readonly Candidate[] => [])
  return found.filter(({ value }) => PLAIN.test(value) && !value.startsWith('-'))
}

const names = (all: readonly string[]): readonly Candidate[] => [...new Set(all)].map((value) => ({ value }))
const MOST = 50

/** The one that was chosen, and those of the latest turns. */
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

/** Read past the store, whose library takes longer to load than a person waits for a word. */
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

/** Names of files, without what they end in. */
function filesIn(folder: string, ending: RegExp): readonly string[] {
  return attempt(() => readdirSync(folder).filter((file) => ending.test(file)), []).map((file) => file.replace(ending, ''))
}

/** Both files, as they are: whether they are right is not asked here. */
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
