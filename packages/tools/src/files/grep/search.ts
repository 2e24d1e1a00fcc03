/** Runs ripgrep for one search without opening secret files, and interprets its exit. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ModelRetry, ToolFailure } from '@mulligan/core'
import type { Ripgrep, RipgrepEnd } from '../../ripgrep.ts'
import { about } from '../../workspace/errors.ts'
import { printable } from '../../workspace/paths.ts'
import { SECRET_GLOBS } from '../../workspace/secret-files.ts'
import type { FileLimits } from '../common/limits.ts'
import { plural } from '../common/page.ts'
import { type SearchRoot, searchIn, tooSlow, unreadable } from '../common/search-root.ts'
import { badPattern } from './bad-pattern.ts'

/** What is searched for, and in which files. */
interface Query {
  readonly pattern: string
  readonly regex: boolean
  readonly ignore_case?: boolean | undefined
  readonly include?: string | undefined
  readonly exclude?: string | undefined
}

/** One search, in any mode. */
export interface Search<Call extends Query = Query> {
  readonly call: Call
  readonly root: SearchRoot
  readonly signal: AbortSignal
  readonly limits: FileLimits
  readonly run: Ripgrep
  /** Returns true for files that match `include`. */
  readonly included: (path: string) => boolean
  /** Returns true for those of them that may be shown. */
  readonly keep: (path: string) => boolean
  /** Returns true if a file may be shown, by its name. */
  readonly shows: (path: string) => boolean
  /** Secret files that were skipped; filled during the run. */
  readonly secrets: string[]
}

const noProgram = (): string => fileURLToPath(new URL('none', `${import.meta.url}/`))
const NAMES = SECRET_GLOBS.map((glob) => glob.replace(/\[.*?\]|[a-z]/g, (one) => (one.length > 1 ? one : `[${one}${one.toUpperCase()}]`)))
/** A single glob, because ripgrep starts a millisecond faster with one than with many. */
const HELD_BACK = `--pre-glob={${NAMES.join(',')}}`
/** A custom file type: unlike a glob, it does not include ignored files. */
const HELD_BACK_ONLY = [...NAMES.map((glob) => `--type-add=held:${glob}`), '--type=held']

/**
 * Runs ripgrep without opening secret files. ripgrep is told to preprocess files that may be secret with a program that does not exist, and
 * names each of them when that fails. Those that are not secret after all are searched in a second run. Which files are skipped does not
 * depend on their content.
 */
export async function ripgrepIn(
  { call, root, signal, limits, run, included, keep, shows, secrets }: Search,
  args: readonly string[],
  separator: '\n' | '\0',
  onRecord: (record: string) => void,
): Promise<RipgrepEnd> {
  const options = { signal, deadline: AbortSignal.timeout(limits.searchSeconds * 1000), separator, onRecord }
  const go = (more: readonly string[]): Promise<RipgrepEnd> =>
    withOnly(call.include, root.prefix, (only) =>
      searchIn(root, ({ target, ...place }) =>
        run([...args, ...only, ...flags(call, root), ...more, '--', target], { ...options, ...place }),
      ),
    )
  if (root.at.kind === 'file' || root.at.output) return go([])
  const anyName = namesHidden(call.include ?? '') || namesHidden(root.prefix)
  const first = await go([`--pre=${noProgram()}`, ...(anyName ? [] : [HELD_BACK])])
  const { paths, stderr } = heldBack(first.stderr)
  const held = paths.map(root.name).filter(included)
  secrets.push(...held.filter((path) => !shows(path)))
  const end = { ...first, stderr, code: paths.length > 0 && stderr === '' ? 0 : first.code }
  if (!held.some(keep)) return end
  const second = await go(anyName ? [] : HELD_BACK_ONLY)
  return { ...second, stderr: stderr + second.stderr, dropped: first.dropped + second.dropped }
}

function flags({ pattern, regex, ignore_case, exclude }: Query, root: SearchRoot): string[] {
  return [
    `--regexp=${pattern}`,
    regex ? '--engine=auto' : '--fixed-strings',
    ignore_case === undefined ? '--smart-case' : ignore_case ? '--ignore-case' : '--case-sensitive',
    ...(/\n|\\n/.test(pattern) ? ['--multiline'] : []),
    ...(exclude === undefined ? [] : [`--glob=!${exclude}`]),
    ...(root.at.output ? ['--no-ignore', '--hidden'] : []),
  ]
}

/** Extracts the skipped files from the error output, where Rust has escaped their paths byte by byte. */
function heldBack(text: string): { readonly paths: readonly string[]; readonly stderr: string } {
  const paths: string[] = []
  const others = text.split(/^(?=rg: )/m).filter((message) => {
    const quoted = / could not start: '".*?" "((?:[^"\\]|\\.)*)"'/.exec(message)?.[1]
    if (quoted !== undefined) paths.push(Buffer.from(quoted.replace(/\\(x..|.)/g, unescaped), 'latin1').toString())
    return quoted === undefined
  })
  return { paths, stderr: others.join('') }
}

const unescaped = (_: string, code: string): string =>
  code.length > 1 ? String.fromCharCode(Number.parseInt(code.slice(1), 16)) : ({ n: '\n', r: '\r', t: '\t' }[code] ?? code)

const namesHidden = (path: string): boolean => /(?:^|\/)\.(?!\.?(?:\/|$))/.test(path)

/**
 * Passes the include glob to ripgrep. `--glob` would also include hidden and ignored files (it overrides both: `**\/*` walks `.git` and
 * `node_modules`), so the glob is passed as an ignore file of the lowest precedence that ignores everything else.
 */
async function withOnly<T>(include: string | undefined, prefix: string, use: (args: readonly string[]) => Promise<T>): Promise<T> {
  if (include === undefined) return use([])
  const dir = await mkdtemp(join(tmpdir(), 'mulligan-'))
  try {
    await writeFile(join(dir, 'only'), onlyRules(include, prefix))
    return await use(['--ignore-file', join(dir, 'only')])
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

/**
 * Returns the ignore rules, relative to the searched folder. Models write a glob with a slash relative to that folder or to the workspace,
 * so a glob that may begin above the folder is not used to narrow the search; files that do not match are dropped afterwards.
 *
 * A glob that names something hidden includes hidden files, but never `.git`.
 */
function onlyRules(include: string, prefix: string): string {
  const glob = include.replace(/^\.?\//, '').replace(/[\r\n]/g, '?')
  const hidden = /(?:^|\/)\./.test(glob) ? '.git/' : '.*'
  const below = prefix !== '' && glob.startsWith(prefix) ? `!/${glob.slice(prefix.length)}\n` : ''
  const only = `*\n!*/\n${below}!${glob}\n${hidden}\n`
  if (!glob.includes('/') || prefix === '' || below !== '' || !/[*?[{\\]/.test(glob.slice(0, glob.indexOf('/')))) return only
  return `${hidden === '.*' ? '' : '!*\n'}${hidden}\n`
}

/** Interprets the end of the run: throws if there is no result, otherwise returns the notes for it. */
export function notesOn({ call, root, limits }: Search, { code, stderr, stopped, dropped }: RipgrepEnd, found: number): string[] {
  const bad = code === 2 ? badPattern(call.pattern, stderr, root.at.kind === 'file' ? '.' : root.at.relative) : undefined
  if (bad) throw bad
  if (stopped === 'deadline' && found === 0) throw tooSlow(root, limits)
  const notes = unreadable(stderr)
  if (code === 2 && found === 0 && notes.length === 0)
    throw /^rg: .*glob/m.test(stderr)
      ? new ModelRetry(`exclude is not a valid glob.`, about('exclude', call.exclude, 'a glob such as *.min.js'))
      : new ToolFailure('ripgrep failed without saying why.', { cause: stderr })
  if (stopped === 'deadline')
    notes.push(`Partial: stopped after ${limits.searchSeconds} s; there may be more. Narrow path, include or pattern.`)
  if (dropped > 0) notes.push(`Partial: ${plural(dropped, 'match', 'matches')} in lines of many megabytes left out.`)
  return notes
}

const NAMED = 5

export function secretsNote(paths: readonly string[]): string {
  const more = paths.length - NAMED
  const named = `${paths.slice(0, NAMED).map(printable).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
  return `Not searched: ${plural(paths.length, 'file')} that may hold keys or passwords (${named}). Give one as path to search it; a person is asked first.`
}
