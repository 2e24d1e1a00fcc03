/** Runs one check throughout a session, and compares its findings with those before the first change and from the last run. */
import { stat } from 'node:fs/promises'
import { basename, isAbsolute, join } from 'node:path'
import { globMatcher } from '../files/common/glob-match.ts'
import { difference, distinct, type Finding, union } from './finding.ts'
import { parseFindings } from './parse/parse.ts'
import { type CommandEnd, commandFault, FILE, locator, type RunCommand, scrubber, troubleOf } from './run-command.ts'

/** A command that reports mistakes. */
export interface DiagnosticCheck {
  /** Globs of the files it applies to, relative to the workspace. A glob without a slash matches names at any depth. */
  readonly include: string | readonly string[]
  /**
   * Program and arguments, without a shell. `{file}`, as a word or the end of one, becomes the path, and the command then runs for each
   * changed file; otherwise it runs once.
   */
  readonly command: readonly string[]
  /** Seconds for everything one change requires. Default 30; at most 600. */
  readonly timeout?: number
}

export interface ChangedFile {
  readonly path: string
  /** The path before it was moved. */
  readonly from?: string
}

export type Check = ReturnType<typeof createCheck>
export type CheckReport = Awaited<ReturnType<Check['after']>>

interface Known {
  readonly baseline: readonly Finding[]
  readonly last: readonly Finding[]
}

/** Either the findings or the reason why the check did not run. */
type Said = { readonly findings: readonly Finding[]; readonly cut: boolean } | { readonly trouble: string }

const DEFAULT_CHECK_TIMEOUT = 30
const MAX_CHECK_TIMEOUT = 600
/** Consecutive timeouts after which a check is no longer run. */
const MAX_LATE = 2
const MAX_LABEL = 60
/** Represents the whole workspace, for a check that does not run per file. */
const ALL = ''

/**
 * Creates a check.
 * @throws TypeError for an invalid check
 */
export function createCheck(config: DiagnosticCheck, root: string, run: RunCommand) {
  const { command, timeout = DEFAULT_CHECK_TIMEOUT } = config
  const perFile = command.some((part) => part.includes(FILE))
  const matchers = [config.include].flat().map(matcher)
  const isFor = (path: string): boolean => matchers.some((matches) => matches(path))
  const touches = async (path: string): Promise<boolean> => isFor(path) || (!perFile && (await kindOf(join(root, path))) === 'directory')
  const scrub = scrubber(root)
  const words = command.map((part, at) => (at === 0 || isAbsolute(part) ? basename(part) : part)).join(' ')
  const label = words.length > MAX_LABEL ? `${words.slice(0, MAX_LABEL)}…` : words
  const fault = command[0]
    ? (commandFault(command) ??
      (timeout > 0 && timeout <= MAX_CHECK_TIMEOUT
        ? undefined
        : `the timeout of "${label}" is in seconds, up to ${MAX_CHECK_TIMEOUT}, not ${timeout}`))
    : 'a check has no command'
  if (fault !== undefined) throw new TypeError(`withDiagnostics: ${fault}`)

  const known = new Map<string, Known>()
  const asked = new Set<string>()
  let late = 0

  async function ask(unit: string, files: readonly string[], seconds: number, signal: AbortSignal): Promise<Said> {
    if (late >= MAX_LATE) return { trouble: `"${label}" was too slow ${MAX_LATE} times and is not run any more.` }
    const argv = command.map((part) => part.replace(FILE, () => (unit.startsWith('-') ? `./${unit}` : unit)))
    let end: CommandEnd
    try {
      end = await run(argv, { cwd: root, timeout: seconds, signal })
    } catch {
      return { trouble: `"${label}" could not be run.` }
    }
    if (end.how !== 'aborted') late = end.how === 'timeout' ? late + 1 : 0
    // Parse the streams separately, because their lines may be interleaved.
    const parsed = [end.stdout, end.stderr].map((text) => parseFindings(text, locator(root, files)))
    const findings = distinct(parsed.flatMap((one) => one.findings.map((found) => ({ ...found, message: scrub(found.message) }))))
    const trouble = troubleOf(end, { label, timeout, scrub, found: parsed.some((one) => one.findings.length + one.outside > 0) })
    return trouble === undefined ? { findings, cut: end.cut || parsed.some(({ cut }) => cut) } : { trouble }
  }

  /** Checks one unit after another, all within the timeout. */
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
    /** Seconds. */
    timeout,
    /** True if the check applies to one of the files, or to files that may be in a moved folder. */
    concerns: (changed: readonly ChangedFile[]): Promise<boolean> =>
      some(
        changed.filter(({ path, from }) => from !== undefined || isFor(path)),
        ({ path }) => touches(path),
      ),

    /** Records the findings before these files are changed, if they are not known yet. */
    async before(likely: readonly string[], signal: AbortSignal): Promise<void> {
      const files = likely.filter(isFor)
      const units = perFile ? files : (await some(likely, touches)) ? [ALL] : []
      const unasked = units.filter((unit) => !known.has(unit) && !asked.has(unit))
      for await (const [unit, said] of each(unasked, files, signal)) {
        if (signal.aborted) return
        asked.add(unit)
        if ('findings' in said) known.set(unit, { baseline: said.findings, last: said.findings })
      }
    },

    async after(changed: readonly ChangedFile[], signal: AbortSignal) {
      for (const { path, from } of changed) if (from !== undefined) renamed(known, from, path)
      const files = changed.map(({ path }) => path).filter(isFor)
      const isChanged = new Set(changed.map(({ path }) => path))
      const [fresh, elsewhere]: [Finding[], Finding[]] = [[], []]
      const troubles = new Set<string>()
      let gone = 0
      let sinceUnknown = false
      let looked = false
      for await (const [unit, said] of each(perFile ? files : [ALL], files, signal)) {
        if ('trouble' in said) {
          troubles.add(said.trouble)
          continue
        }
        const { findings } = said
        looked = true
        if (said.cut) troubles.add(`"${label}" printed more than is read; there may be more.`)
        const { baseline, last } = known.get(unit) ?? { baseline: undefined, last: [] }
        fresh.push(...difference(findings, baseline ?? []).filter(({ path }) => isChanged.has(path)))
        // Without a baseline, it is unknown which findings came with the change.
        if (baseline) elsewhere.push(...difference(findings, union(last, baseline)).filter(({ path }) => !isChanged.has(path)))
        else sinceUnknown = true
        gone += difference(last, findings).length
        known.set(unit, { baseline: baseline ?? findings, last: findings })
      }
      if (signal.aborted && troubles.size === 0) troubles.add(`"${label}" was stopped with the turn.`)
      return {
        /** The command, for display. */
        label,
        /** Findings in the changed files that were not there before the first change. */
        fresh: distinct(fresh),
        /** Findings in other files that came with this change. */
        elsewhere: distinct(elsewhere),
        /** Number of findings that disappeared with this change. */
        gone,
        /** The previous findings are unknown, so `fresh` contains all findings in the changed files. */
        sinceUnknown,
        /** At least one unit was checked. */
        looked,
        /** Why some or all units were not checked. */
        troubles: [...troubles],
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

/** Moves the findings for a file or folder to its new name. */
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
