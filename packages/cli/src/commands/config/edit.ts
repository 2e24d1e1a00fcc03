/** `mulligan config set`, `unset` and `init` edit a file in place, keep its comments, and validate the result. */

import {
  changing,
  type FilePlace,
  keyText,
  oneLine,
  parseKey,
  projectPlace,
  replaceFile,
  safeJson,
  UsageError,
  userPlace,
} from '@mulligan/host/light'
import {
  read,
  readingsOf,
  readSettings,
  refuseAllowing,
  rowsOf,
  type Settings,
  setIn,
  starter,
  textOf,
  unsetIn,
  valuesOf,
} from '@mulligan/host/parts'
import { workingFolder } from '../../paths.ts'
import { EXIT } from '../../process.ts'
import type { Output } from '../../ui/output.ts'
import { type FolderFlags, print } from '../../ui/text.ts'
import { askedKey } from './show.ts'

export interface EditFlags extends FolderFlags {
  /** Edits the project's file instead of the user's. */
  readonly project?: boolean
}

/** @throws UsageError if the value is not valid for the key */
export async function setConfig(key: string, text: string, flags: EditFlags, output: Output): Promise<number> {
  const cwd = workingFolder(flags.cwd)
  const { path } = askedKey(key)
  const place = placeOf(cwd, flags)
  const value = await edit(place, async () => {
    const { changed, value } = withText(place, textOf(place) ?? '', path, text)
    await replaceFile(place.path, changed, modeOf(place))
    return value
  })
  const line = `${keyText(path)} = ${shownValue(value)} in ${place.shown}`
  print(output, flags.json, { key: keyText(path), value, file: place.path }, [oneLine(line, 500)])
  tellWhere(cwd, path, place, output)
  return EXIT.ok
}

/** Sets a value that is not text. @returns the file, for display. @throws UsageError if the value is not valid for the key */
export async function setValue(path: readonly string[], value: unknown, flags: EditFlags): Promise<string> {
  const place = placeOf(workingFolder(flags.cwd), flags)
  await edit(place, async () => {
    const changed = setIn(textOf(place) ?? '', path, value)
    if (changed === undefined) throw untouchable(place)
    check(place, changed)
    await replaceFile(place.path, changed, modeOf(place))
  })
  return place.shown
}

/** @returns 1 if the key is not set. @throws UsageError */
export async function unsetConfig(key: string, flags: EditFlags, output: Output): Promise<number> {
  const cwd = workingFolder(flags.cwd)
  const path = parseKey(key)
  if (path === undefined) throw new UsageError(`${oneLine(key, 80)} is not a key`, 'Keys look like limits.requests.')
  const place = placeOf(cwd, flags)
  const isSet = await edit(place, async () => {
    const text = textOf(place) ?? ''
    const changed = unsetIn(text, path)
    if (changed === undefined) throw untouchable(place)
    if (changed === text) return false
    // Existing errors may remain: this also removes unknown keys.
    if (isFine(place, text)) valuesOf(place, changed)
    await replaceFile(place.path, changed, modeOf(place))
    return true
  })
  if (!isSet) {
    output.err(`${keyText(path)} is not set in ${place.shown}.\n`)
    return EXIT.failed
  }
  print(output, flags.json, { key: keyText(path), file: place.path }, [oneLine(`${keyText(path)} is no longer set in ${place.shown}`, 500)])
  return EXIT.ok
}

const SCHEMA = new URL('../../../mulligan.schema.json', import.meta.url)

/** @throws UsageError if the file already exists */
export async function initConfig(flags: EditFlags, output: Output): Promise<number> {
  const place = placeOf(workingFolder(flags.cwd), flags)
  await edit(place, async () => {
    if (textOf(place) !== undefined)
      throw new UsageError(
        `${place.shown} already exists`,
        'mulligan config set KEY VALUE changes it; mulligan config explain lists the keys.',
      )
    await replaceFile(place.path, starter(flags.project ? undefined : SCHEMA.href), modeOf(place))
  })
  print(output, flags.json, { file: place.path }, [oneLine(`Made ${place.shown}`, 500)])
  return EXIT.ok
}

function placeOf(cwd: string, { project = false }: EditFlags): FilePlace {
  const place = project ? projectPlace(cwd) : userPlace(process.env)
  if (place.path === '') throw new UsageError('there is no home folder for the configuration', 'Set HOME, or MULLIGAN_CONFIG to a file.')
  return place
}

/** Sets the first valid interpretation of the text. If none is valid, throws the error of the most likely interpretation. */
function withText(place: FilePlace, before: string, path: readonly string[], text: string) {
  const faults: UsageError[] = []
  for (const value of [...readingsOf(text), ...jsonOf(text), listOf(text)]) {
    const changed = setIn(before, path, value)
    if (changed === undefined) throw untouchable(place)
    try {
      check(place, changed)
      return { changed, value }
    } catch (error) {
      if (!(error instanceof UsageError)) throw error
      faults.push(error)
    }
  }
  throw faults.find(({ message }) => !/expected .*received/.test(message)) ?? faults[0]
}

function check(place: FilePlace, text: string): void {
  const values = valuesOf(place, text)
  if (place.origin === 'project') refuseAllowing([{ ...place, found: true, values }, read(userPlace(process.env))], process.env)
}

const jsonOf = (text: string): readonly unknown[] => {
  try {
    return [JSON.parse(text)]
  } catch {
    return []
  }
}
/** Parses `a, b` as a list of strings. */
const listOf = (text: string): readonly string[] => text.split(',').map((one) => one.trim())

function isFine(place: FilePlace, text: string): boolean {
  try {
    valuesOf(place, text)
    return true
  } catch {
    return false
  }
}

const untouchable = ({ shown }: FilePlace): UsageError =>
  new UsageError(`${shown} can't be changed without damaging its content`, 'The file must contain one JSON object. Open it in an editor.')

const modeOf = ({ origin }: FilePlace): number => (origin === 'project' ? 0o644 : 0o600)

async function edit<T>(place: FilePlace, work: () => Promise<T>): Promise<T> {
  try {
    return await changing(place.path, work)
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`${place.shown} can't be written: ${(error as NodeJS.ErrnoException).code ?? 'unknown error'}`, WRITABLE)
  }
}

const WRITABLE = 'mulligan config path lists the files.'

const shownValue = (value: unknown): string => (typeof value === 'string' ? value : (safeJson(value) ?? ''))

/** Reports the effective value if another source overrides this one or has the stricter value. */
function tellWhere(cwd: string, path: readonly string[], { shown }: FilePlace, { err }: Output): void {
  const settings = readable(cwd)
  const rows = settings === undefined ? [] : rowsOf(settings).filter(({ key }) => key === keyText(path))
  const [row] = rows
  if (row && rows.every(({ from }) => from !== shown))
    err(`The effective value is ${oneLine(shownValue(row.value), 80)}, from ${row.from}.\n`)
}

/** Reads the settings, ignoring unrelated errors, which other commands report. */
function readable(cwd: string): Settings | undefined {
  try {
    return readSettings(cwd, {}, process.env)
  } catch {
    return undefined
  }
}
