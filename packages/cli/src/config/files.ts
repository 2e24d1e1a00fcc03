/** The two files: the person's own, and the project's. */
import { readFileSync, statSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { UsageError } from '../exit.ts'
import { configDir, fromHome } from '../paths.ts'
import { oneLine } from '../ui/sanitize.ts'
import { refuseAllowing } from './approval.ts'
import { checkWith } from './check.ts'
import type { ConfigFile } from './config-file.ts'
import { parseJsonc } from './jsonc.ts'
import { loosening } from './sandbox.ts'
import { configSchema, PERSONAL } from './schema.ts'

type Env = Readonly<Record<string, string | undefined>>

const MOST_BYTES = 1_000_000
export const PROJECT_CONFIG = join('.mulligan', 'config.json')

/** Both, the project's first, whether they are there or not. @throws UsageError that names file and key */
export function configFiles(cwd: string, env: Env = process.env): readonly ConfigFile[] {
  const [project, own] = [read('project', join(cwd, PROJECT_CONFIG), PROJECT_CONFIG), userFile(env)]
  refuseAllowing(project, own, cwd)
  return [project, own]
}

function userFile(env: Env): ConfigFile {
  const named = env['MULLIGAN_CONFIG']
  if (named && !isAbsolute(named))
    throw new UsageError(`MULLIGAN_CONFIG=${named} must be an absolute path`, 'Name the whole path of the file.')
  const path = named || ownPath('config.json', env)
  if (path === undefined) return { origin: 'user', path: '', shown: '', found: false, values: {} }
  const file = read('user', path, fromHome(path))
  if (named && !file.found)
    throw new UsageError(`MULLIGAN_CONFIG names ${fromHome(path)}, which is not there`, 'Make the file, or unset MULLIGAN_CONFIG.')
  return file
}

/** In the person's own folder; undefined where they have none. */
export function ownPath(name: string, env: Env = process.env): string | undefined {
  try {
    return join(configDir(env), name)
  } catch {
    return undefined
  }
}

function read(origin: ConfigFile['origin'], path: string, shown: string): ConfigFile {
  const text = textOf(path, shown)
  if (text === undefined) return { origin, path, shown, found: false, values: {} }
  const parsed = parseJsonc(text)
  if (!parsed.ok) throw wrong(shown, `it is not JSON: ${oneLine(parsed.error, 200)}`, WHICH)
  const checked = checkWith(configSchema, parsed.value)
  if (!checked.ok) throw wrong(shown, oneLine(checked.error, 300))
  const personal = PERSONAL.find((key) => checked.value[key] !== undefined)
  if (origin === 'project' && personal)
    throw wrong(
      shown,
      `${personal} decides where data goes, so a project's file can't set it`,
      'Set it in your own file: mulligan config path shows where that is.',
    )
  if (origin === 'project' && checked.value.trustedProjects)
    throw wrong(shown, "trustedProjects says whom you trust, so a project's file can't set it", 'Set it in your own file.')
  const loose = loosening(checked.value.sandbox)
  if (origin === 'project' && loose !== undefined)
    throw wrong(
      shown,
      `sandbox.${loose} would loosen the sandbox, so a project's file can't set it`,
      'Set it in your own file: mulligan config path shows where that is.',
    )
  return { origin, path, shown, found: true, values: checked.value }
}

const WHICH = 'mulligan config path shows which files are read.'
const wrong = (
  shown: string,
  says: string,
  hint = 'docs/cli.md has every key; mulligan config path shows which files are read.',
): UsageError => new UsageError(`${shown}: ${says}`, hint)

function textOf(path: string, shown: string): string | undefined {
  try {
    const found = statSync(path, { throwIfNoEntry: false })
    if (!found) return undefined
    if (!found.isFile() || found.size > MOST_BYTES)
      throw wrong(shown, found.isFile() ? 'it is too large for a configuration' : 'it is no file')
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof UsageError) throw error
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined
    throw wrong(shown, `it can't be read: ${(error as NodeJS.ErrnoException).code ?? 'unknown error'}`)
  }
}
