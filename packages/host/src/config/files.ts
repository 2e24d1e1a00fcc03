/** Reads the two configuration files: the user's own and the project's. */

import type { Env } from '../common/env.ts'
import { UsageError } from '../common/errors.ts'
import { readRegular } from '../common/regular-file.ts'
import { oneLine } from '../common/sanitize.ts'
import { refusedIn } from './admit.ts'
import { refuseAllowing } from './approval.ts'
import { checkWith } from './check.ts'
import { parseJsonc } from './jsonc.ts'
import { type ConfigFile, type FilePlace, projectPlace, userPlace } from './places.ts'
import { type Config, configSchema } from './schema.ts'

const MAX_BYTES = 1_000_000

/** Reads both files, the project's first, whether they exist or not. @throws UsageError that names the file and the key */
export function configFiles(cwd: string, env: Env): readonly ConfigFile[] {
  const files = [read(projectPlace(cwd)), userFile(env)]
  refuseAllowing(files, env)
  return files
}

/** Reads the user's own file. @throws UsageError */
export function userFile(env: Env): ConfigFile {
  const place = userPlace(env)
  if (place.path === '') return { ...place, found: false, values: {} }
  const file = read(place)
  if (env['MULLIGAN_CONFIG'] && !file.found)
    throw new UsageError(`MULLIGAN_CONFIG points to ${place.shown}, which does not exist`, 'Create the file, or unset MULLIGAN_CONFIG.')
  return file
}

/** Reads one file. @throws UsageError */
export function read(place: FilePlace): ConfigFile {
  const text = textOf(place)
  return text === undefined ? { ...place, found: false, values: {} } : { ...place, found: true, values: valuesOf(place, text) }
}

/**
 * Parses the text of a configuration file and checks that its keys may be in that file.
 * @throws UsageError that names the file and the key
 */
export function valuesOf({ origin, shown }: FilePlace, text: string): Config {
  const parsed = parseJsonc(text)
  if (!parsed.ok) throw wrong(shown, `it is not valid JSON: ${oneLine(parsed.error, 200)}`, WHICH)
  const checked = checkWith(configSchema(), parsed.value)
  if (!checked.ok) throw wrong(shown, oneLine(checked.error, 300))
  const refused = origin === 'project' ? refusedIn(checked.value) : undefined
  if (refused)
    throw wrong(
      shown,
      `${refused.key} ${refused.why}, so a project's file can't set it`,
      'Set it in your own file: mulligan config path shows where that is.',
    )
  return checked.value
}

const WHICH = 'mulligan config path shows which files are read.'
const wrong = (
  shown: string,
  says: string,
  hint = 'mulligan config explain shows every key; mulligan config path shows which files are read.',
): UsageError => new UsageError(`${shown}: ${says}`, hint)

/** Returns undefined if there is no file. @throws UsageError */
export function textOf({ path, shown }: FilePlace): string | undefined {
  const read = readRegular(path, MAX_BYTES)
  if (read.kind === 'absent') return undefined
  if (read.kind === 'odd') throw wrong(shown, read.why)
  if (!read.isWhole) throw wrong(shown, 'it is too large for a configuration')
  return read.text
}
