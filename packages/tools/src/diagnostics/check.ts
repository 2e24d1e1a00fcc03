/** One check over a session: what it said before the first change, what it said last, and what a change makes of that. */
import { stat } from 'node:fs/promises'
import { basename, isAbsolute, join } from 'node:path'
import { globMatcher } from '../files/common/glob-match.ts'
import type { ChangedFile } from './changed-files.ts'
import { commandFault, FILE } from './command.ts'
import { difference, distinct, type Finding, union } from './finding.ts'
import { locator, scrubber } from './locate.ts'
import { parseFindings } from './parse/parse.ts'
import type { CommandEnd, RunCommand } from './run-command.ts'
import { troubleOf } from './trouble.ts'

/** A command that looks for mistakes. */
export interface DiagnosticCheck {
  /** Globs of the files that it is about, relative to the workspace; without a slash, names at any depth. */
  readonly include: string | readonly string[]
  /** Program and arguments; no shell. `{file}` becomes the path, as a word or the end of one: then it is run for each changed file, otherwise once. */
  readonly command: readonly string[]
  /** Seconds for all that one change needs. Default 30; at most 600. */
  readonly timeout?: number
}

export interface CheckReport {
  /** The command, for people and the model. */
  readonly label: string
  /** In the changed files, and not there before the first change. */
  readonly fresh: readonly Finding[]
  /** In other files, and come with this change. */
  readonly elsewhere: readonly Finding[]
  /** How many are gone with this change. */
  readonly gone: number
  /** What it said before is not known: `fresh` has all that is in the changed files. */
  readonly sinceUnknown: boolean
  /** It has looked at something. */
  readonly looked: boolean
  /** Why it has not looked at all, or not at everything. */
  readonly troubles: readonly string[]
}

export interface Check {
  readonly label: string
  /** Seconds. */
  readonly timeout: number
  /** It is for one of the files, or for what may be in a folder that was moved. */
  readonly concerns: (changed: readonly ChangedFile[]) => Promise<boolean>
  /** Makes sure that it is known what is said before a change of these files. */
  readonly before: (likely: readonly string[], signal: AbortSignal) => Promise<void>
  readonly after: (changed: readonly ChangedFile[], signal: AbortSignal) => Promise<CheckReport>
}

interface Known {
  readonly baseline: readonly Finding[]
  readonly last: readonly Finding[]
}

/** Either what it found or why it did not look. */
type Said = { readonly findings: readonly Finding[]; readonly cut: boolean } | { readonly trouble: string }

export const DEFAULT_CHECK_TIMEOUT = 30
export const MAX_CHECK_TIMEOUT = 600
/** A check that is too slow so often in a row is not run again. */
const MAX_LATE = 2
const MAX_LABEL = 60
/** Stands for the whole workspace where a check is not about one file. */
const ALL = ''

/** @throws TypeError for a check that cannot be one */
export function createCheck(config: DiagnosticCheck, root: string, run: RunCommand): Check {
  const { command, timeout = DEFAULT_CHECK_TIMEOUT } = config
  const perFile = command.some((part) => part.includes(FILE))
  const matchers = [config.include].flat().map(matcher)
  const isFor = (path: string): boolean => matchers.some((matches) => matches(path))
  const touches = async (path: string): Promise<boolean> => isFor(path) || (!perFile && (await kindOf(join(root, path))) === 'directory')
  const scrub = scrubber(root)
  const label = clip([basename(command[0] ?? ''), ...command.slice(1).map((part) => (isAbsolute(part) ? basename(part) : part))].join(' '))
  if (!command[0]) throw new TypeError('withDiagnostics: a check has no command')
  const fault = commandFault(command)
  if (fault !== undefined) throw new TypeError(`withDiagnostics: ${fault}`)
  if (!(timeout > 0 && timeout <= MAX_CHECK_TIMEOUT))
    throw new TypeError(`withDiagnostics: the timeout of "${label}" is in seconds, up to ${MAX_CHECK_TIMEOUT}, not ${timeout}`)

  const known = new Map<string, Known>()
  const asked = new Set<string>()
  let late = 0

  async function ask(unit: string, files: readonly string[], seconds: number, signal: AbortSignal): Promise<Said> {
    if (late >= MAX_LATE) return { trouble: `"${label}" was too slow ${MAX_LATE} times and is not run any more.` }
    const words = command.map((part) => part.replace(FILE, () => (unit.startsWith('-') ? `./${unit}` : unit)))
    let end: CommandEnd
    try {
      end = await run(words, { cwd: root, timeout: seconds, signal })
    } catch {
      return { trouble: `"${label}" could not be run.` }
    }
    if (end.how !== 'aborted') late = end.how === 'timeout' ? late + 1 : 0
    // Streams are read apart, as their lines may be mixed.
    const parsed = [end.stdout, end.stderr].map((text) => parseFindings(text, locator(root, files)))
    const findings = distinct(parsed.flatMap((one) => one.findings.map((found) => ({ ...found, message: scrub(found.message) }))))
    const trouble = troubleOf(end, { label, timeout, scrub, found: parsed.some((one) => one.findings.length + one.outside > 0) })
    return trouble === undefined ? { findings, cut: end.cut || parsed.some(({ cut }) => cut) } : { trouble }
  }

  /** Asks about one unit after the other, all within the timeout. */
  async function* each(units: readonly string[], files: readonly string[], signal: AbortSignal): AsyncGenerator<[string, Said]> {
    const deadline = performance.now() + timeout * 1000
    for (const unit of units) {
      const seconds = (deadline - performance.now()) / 1000
      const missing = unit !== ALL && (await kindOf(join(root, unit))) !== 'file'
      if (missing) yield [unit, { findings: [], cut: false }]
      else if (signal.aborted) return
      else if (seconds > 0) yield [unit, await ask(unit, unit === ALL ? files : [unit], seconds, signal)]
      else yield [unit, { trouble: `${unit} was not checked: "${label}" had used up its ${timeout} s.` }]
    }
  }

  return {
    label,
    timeout,
    concerns: (changed) =>
      some(
        changed.filter(({ path, from }) => from !== undefined || isFor(path)),
        ({ path }) => touches(path),
      ),

    async before(likely, signal) {
      const files = likely.filter(isFor)
      const units = perFile ? files : (await some(likely, touches)) ? [ALL] : []
      const unasked = units.filter((unit) => !known.has(unit) && !asked.has(unit))
      for await (const [unit, said] of each(unasked, files, signal)) {
        if (signal.aborted) return
        asked.add(unit)
        if ('findings' in said) known.set(unit, { baseline: said.findings, last: said.findings })
      }
    },

    async after(changed, signal) {
      for (const { path, from } of changed) if (from !== undefined) renamed(known, from, path)
      const files = changed.map(({ path }) => path).filter(isFor)
      const isChanged = new Set(changed.map(({ path }) => path))
      const report = {
        fresh: [] as Finding[],
        elsewhere: [] as Finding[],
        gone: 0,
        sinceUnknown: false,
        looked: false,
        troubles: [] as string[],
      }
      for await (const [unit, said] of each(perFile ? files : [ALL], files, signal)) {
        if ('trouble' in said) {
          report.troubles.push(said.trouble)
          continue
        }
        const { findings } = said
        report.looked = true
        if (said.cut) report.troubles.push(`"${label}" printed more than is read; there may be more.`)
        const { baseline = [], last = [] } = known.get(unit) ?? {}
        report.fresh.push(...difference(findings, baseline).filter(({ path }) => isChanged.has(path)))
        // Without a "before" nobody knows which of them came with the change.
        if (known.has(unit))
          report.elsewhere.push(...difference(findings, union(last, baseline)).filter(({ path }) => !isChanged.has(path)))
        else report.sinceUnknown = true
        report.gone += difference(last, findings).length
        known.set(unit, { baseline: known.has(unit) ? baseline : findings, last: findings })
      }
      if (signal.aborted && report.troubles.length === 0) report.troubles.push(`"${label}" was stopped with the turn.`)
      return {
        ...report,
        label,
        fresh: distinct(report.fresh),
        elsewhere: distinct(report.elsewhere),
        troubles: [...new Set(report.troubles)],
      }
    },
  }
}

function matcher(pattern: string): (path: string) => boolean {
  try {
    return globMatcher(pattern)
  } catch (error) {
    throw new TypeError(`withDiagnostics: include ${JSON.stringify(pattern)}: ${(error as Error).message}`)
  }
}

/** What was said of a file, or of those in a folder, goes with it to its new name. */
function renamed(known: Map<string, Known>, from: string, to: string): void {
  const name = (path: string): string => (path === from || path.startsWith(`${from}/`) ? to + path.slice(from.length) : path)
  const move = (findings: readonly Finding[]): Finding[] => findings.map((one) => ({ ...one, path: name(one.path) }))
  for (const [unit, { baseline, last }] of [...known]) {
    known.delete(unit)
    known.set(name(unit), { baseline: move(baseline), last: move(last) })
  }
}

const kindOf = (path: string): Promise<'file' | 'directory' | undefined> =>
  stat(path).then(
    (found) => (found.isFile() ? 'file' : found.isDirectory() ? 'directory' : undefined),
    () => undefined,
  )

const some = async <T>(list: readonly T[], is: (one: T) => Promise<boolean>): Promise<boolean> =>
  (await Promise.all(list.map(is))).includes(true)

const clip = (text: string): string => (text.length > MAX_LABEL ? `${text.slice(0, MAX_LABEL)}…` : text)
