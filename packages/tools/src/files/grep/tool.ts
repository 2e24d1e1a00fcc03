import { fileURLToPath } from 'node:url'
import { defineTool, empty, ModelRetry, ok, type Tool, type ToolContext, ToolFailure, type ToolOk } from '@mulligan/core'
import { z } from 'zod'
import { describe } from '../../describe.ts'
import { type RipgrepEnd, ripgrep } from '../../ripgrep.ts'
import { printable } from '../../workspace/paths.ts'
import { SECRET_GLOBS } from '../../workspace/secret-files.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { fromEither, globParameter } from '../common/glob-input.ts'
import { DEFAULT_LIMITS, type FileLimits, WALK_TIMEOUT } from '../common/limits.ts'
import { nextPage, type Page, pageOf, plural } from '../common/page.ts'
import { type SearchRoot, searchIn, searchRoot } from '../common/search-root.ts'
import { fenced } from '../common/unified-diff.ts'
import { unreadable } from '../common/unreadable.ts'
import { tooSlow } from '../common/walk.ts'
import { badPattern, withoutDoubling } from './bad-pattern.ts'
import { gather, pageOfMatches, rendered } from './matches.ts'
import { withOnly } from './only-files.ts'
import { readAgain, withoutPlace } from './read-again.ts'

const DEFAULT_MATCHES = 100
const MAX_MATCHES = 5000
const MAX_CONTEXT = 20

const input = z.object({
  pattern: z
    .string()
    .min(1)
    .refine((pattern) => !pattern.includes('\0'), 'must not hold a NUL character (write \\x00)')
    .describe('regex'),
  path: z.string().default('.').describe('file or folder'),
  include: z.string().optional().describe('glob, e.g. *.ts'),
  exclude: z.string().optional().describe('glob'),
  regex: z.boolean().default(true).describe('false: literal'),
  ignore_case: z.boolean().optional().describe('default: smart'),
  context: z.int().min(0).max(MAX_CONTEXT).default(0).describe('lines around'),
  mode: z.enum(['content', 'files', 'count']).default('content').describe('output'),
  limit: z.int().min(1).max(MAX_MATCHES).default(DEFAULT_MATCHES).describe('a page'),
  page: z.int().min(1).max(1e6).default(1).describe('from 1'),
})
type Input = z.infer<typeof input>

/** One search, whatever the mode. */
interface Search {
  readonly call: Input
  readonly root: SearchRoot
  readonly ctx: ToolContext
  /** Which files match `include`. */
  readonly included: (path: string) => boolean
  /** Which of them may be shown. */
  readonly keep: (path: string) => boolean
  /** Secret files that were left out; filled by the run. */
  readonly secrets: string[]
}

/** Searches file contents with ripgrep. A search that was cut short says so, and is never "nothing found". */
export function grepTool(workspace: Workspace, limits: FileLimits = DEFAULT_LIMITS, run = ripgrep): Tool {
  return defineTool({
    name: 'grep',
    description: describe(import.meta.url, { SECONDS: limits.searchSeconds }),
    input,
    effect: 'read',
    priority: 50,
    subject: ({ pattern }) => pattern,
    timeout: WALK_TIMEOUT,
    aliases: ['search', 'ripgrep', 'rg', 'grep_search', 'search_files', 'search_file_content'].map((name) => ({ name, adapt: fromOthers })),
    parameterAliases: {
      pattern: ['query', 'regexp', 'search_term'],
      path: ['dir', 'directory', 'dir_path', 'folder', 'file', 'file_path', 'target_directory', 'search_path'],
      include: ['glob', 'include_pattern', 'file_pattern', 'includes'],
      exclude: ['exclude_pattern', 'excludes'],
      regex: ['is_regexp', 'is_regex'],
      ignore_case: ['case_insensitive', '-i'],
      context: ['-C', 'context_lines'],
      mode: ['output_mode'],
      limit: ['max_results', 'head_limit', 'max_count'],
    },
    ignoredParameters: ['-n', '--line-number', 'line_numbers', 'match_per_line', 'include_ignored_files'],
    target: ({ path }) => workspace.target(path),
    examples: [
      { outcome: 'ok', input: { pattern: 'export' }, files: { 'src/main.ts': 'export const a = 1\n' } },
      { outcome: 'ok', input: { pattern: 'a', mode: 'files', include: '*.ts' }, files: { 'src/main.ts': 'a\n', 'b.md': 'a\n' } },
      { outcome: 'empty', input: { pattern: 'nowhere' }, files: { 'src/main.ts': 'export {}\n' } },
      { outcome: 'retry', input: { pattern: 'main(' }, files: { 'src/main.ts': 'main()\n' }, why: 'a bad regex; the fixed one is given' },
      { outcome: 'retry', input: { pattern: 'a', path: 'scr' }, files: { 'src/main.ts': 'a\n' }, why: 'the nearest folder is named' },
    ],
    execute: (call, ctx) => grep(call, ctx),
  })

  async function grep(call: Input, ctx: ToolContext): Promise<ToolOk> {
    const matches = call.include === undefined ? undefined : globParameter('include', call.include)
    if (call.exclude !== undefined) globParameter('exclude', call.exclude)
    const root = await searchRoot(workspace, call.path, { files: true })
    const included = matches ? fromEither(matches, root.prefix) : () => true
    const search: Search = { call, root, ctx, included, keep: (path) => included(path) && workspace.shows(path), secrets: [] }
    const named = root.at.kind === 'file' || root.at.output ? { ...search, keep: included } : search
    const result = await (call.mode === 'content' ? content(named) : perFile(named))
    if (search.secrets.length === 0) return result
    const { ok: _, data, notes = [], ...more } = result
    return ok(data, { ...more, notes: [...notes, secretsNote(search.secrets.sort())] })
  }

  async function content(search: Search): Promise<ToolOk> {
    const { call, root, keep } = search
    const found = gather({ name: root.name, keep, most: limits.heldMatches, chars: limits.matchChars })
    const context = call.context > 0 ? [`--context=${call.context}`] : []
    const end = await ripgrepIn(search, ['--json', ...context], '\n', found.add)
    const { files, total, overflow } = found.result()
    const notes = settle(search, end, total)
    if (overflow) notes.push(`Only the first ${limits.heldMatches} of ${total} matches can be paged. Narrow path, include or pattern.`)
    if (total === 0) return nothing(call, root, notes)
    const paged = pageOf(Array.from({ length: Math.min(total, limits.heldMatches) }), call.page, call.limit)
    const held = pageOfMatches(files, { ...call, chars: limits.matchChars })
    // A file that is searched by its name was opened before.
    const wasOpen = root.at.kind === 'file' && process.platform === 'linux'
    const { files: shown, changed } = wasOpen
      ? { files: held.map(withoutPlace), changed: [] }
      : await readAgain(root, held, limits.matchChars)
    if (changed.length > 0) notes.push(`Left out: ${changed.map(printable).join(', ')} changed during the search.`)
    const says = `${plural(total, 'match', 'matches')} in ${plural(files.length, 'file')}`
    const data = { files: shown, total, totalFiles: files.length, partial: end.stopped === 'deadline' || overflow }
    return answer(call, { found: says, paged, body: rendered(shown), display: fenced(rendered(shown)), data, notes })
  }

  async function perFile(search: Search): Promise<ToolOk> {
    const { call, root, keep } = search
    const counts = new Map<string, number>()
    let beyond = 0
    const counting = call.mode === 'count'
    let begun = ''
    // `--count` ends a record with a newline and has the NUL inside, after a name that may have newlines itself;
    // `--files-with-matches` ends it with the NUL.
    const add = (piece: string): void => {
      const record = begun + piece
      const at = record.lastIndexOf('\0')
      begun = counting && at === -1 ? `${record}\n` : ''
      if (begun !== '') return
      const path = root.name(at === -1 ? record : record.slice(0, at))
      if (!keep(path)) return
      if (counts.size < limits.heldMatches) counts.set(path, at === -1 ? 1 : Number(record.slice(at + 1)))
      else beyond++
    }
    const args = ['--null', '--with-filename', counting ? '--count-matches' : '--files-with-matches']
    const end = await ripgrepIn(search, args, counting ? '\n' : '\0', add)
    const files = [...counts].map(([path, matches]) => (counting ? { path, matches } : { path }))
    files.sort((a, b) => (a.path < b.path ? -1 : 1))
    const notes = settle(search, end, files.length)
    if (beyond > 0) notes.push(`${plural(beyond, 'more file')} matched than can be listed. Narrow path, include or pattern.`)
    if (files.length === 0) return nothing(call, root, notes)
    const total = counting ? [...counts.values()].reduce((sum, one) => sum + one, 0) : files.length
    const paged = pageOf(files, call.page, call.limit)
    const lines = paged.items.map((file) => printable(file.path) + ('matches' in file ? `: ${file.matches}` : ''))
    const says = counting ? `${plural(total, 'match', 'matches')} in ${plural(files.length, 'file')}` : plural(total, 'file')
    const data = { files: paged.items, total, partial: end.stopped === 'deadline' || beyond > 0 }
    return answer(call, { found: says, paged, body: lines.join('\n'), display: lines.map((line) => `- ${line}`).join('\n'), data, notes })
  }

  /**
   * Secret files are not opened: ripgrep is told to put what may be one through a program that does not exist, and names it as
   * it fails to. Those that turn out to be none are searched in a second run. Which ones are left out does not depend on what
   * is in them.
   */
  async function ripgrepIn(
    { call, root, ctx, included, keep, secrets }: Search,
    args: readonly string[],
    separator: '\n' | '\0',
    onRecord: (record: string) => void,
  ): Promise<RipgrepEnd> {
    const options = { signal: ctx.signal, deadline: AbortSignal.timeout(limits.searchSeconds * 1000), separator, onRecord }
    const go = (more: readonly string[]): Promise<RipgrepEnd> =>
      withOnly(call.include, root.prefix, (only) =>
        searchIn(root, ({ target, ...place }) =>
          run([...args, ...only, ...flags(call, root), ...more, '--', target], { ...options, ...place }),
        ),
      )
    if (root.at.kind === 'file' || root.at.output) return go([])
    const anyName = namesHidden(call.include ?? '') || namesHidden(root.prefix)
    const first = await go([`--pre=${NO_PROGRAM}`, ...(anyName ? [] : HELD_BACK)])
    const { paths, stderr } = heldBack(first.stderr)
    const held = paths.map(root.name).filter(included)
    secrets.push(...held.filter((path) => !workspace.shows(path)))
    const end = { ...first, stderr, code: paths.length > 0 && stderr === '' ? 0 : first.code }
    if (!held.some(keep)) return end
    const second = await go(anyName ? [] : HELD_BACK_ONLY)
    return { ...second, stderr: stderr + second.stderr, dropped: first.dropped + second.dropped }
  }

  /** What the end of the run means: throws where there is no answer, else the notes that go with it. */
  function settle({ call, root }: Search, end: RipgrepEnd, found: number): string[] {
    const bad = end.code === 2 ? badPattern(call.pattern, end.stderr, root.at.kind === 'file' ? '.' : root.at.relative) : undefined
    if (bad) throw bad
    const cut = end.stopped === 'deadline'
    if (cut && found === 0) throw tooSlow(root, limits)
    const notes = unreadable(end.stderr)
    if (end.code === 2 && found === 0 && notes.length === 0) {
      const says = /^rg: (?:error parsing glob.*|.*glob.*)$/m.exec(end.stderr)?.[0]
      if (says)
        throw new ModelRetry(`exclude is not a valid glob.`, {
          parameter: 'exclude',
          value: call.exclude,
          constraint: 'a glob such as *.min.js',
        })
      throw new ToolFailure('ripgrep failed without saying why.', { cause: end.stderr })
    }
    if (cut) notes.push(`Partial: stopped after ${limits.searchSeconds} s; there may be more. Narrow path, include or pattern.`)
    if (end.dropped > 0) notes.push(`Partial: ${plural(end.dropped, 'match', 'matches')} in lines of many megabytes left out.`)
    return notes
  }
}

const NO_PROGRAM = fileURLToPath(new URL('none', `${import.meta.url}/`))
const NAMES = SECRET_GLOBS.map(inAnyCase)
const HELD_BACK = NAMES.map((glob) => `--pre-glob=${glob}`)
/** A type of files of our own: unlike a glob it lets in nothing that is ignored. */
const HELD_BACK_ONLY = [...NAMES.map((glob) => `--type-add=held:${glob}`), '--type=held']

function inAnyCase(glob: string): string {
  return glob.replace(/\[.*?\]|[a-z]/g, (one) => (one.length > 1 ? one : `[${one}${one.toUpperCase()}]`))
}

/** Takes the files that were not opened out of the error text, where Rust has quoted their paths byte by byte. */
function heldBack(text: string): { readonly paths: readonly string[]; readonly stderr: string } {
  const paths: string[] = []
  const others = text.split(/^(?=rg: )/m).filter((message) => {
    const quoted = / could not start: '".*?" "((?:[^"\\]|\\.)*)"'/.exec(message)?.[1]
    if (quoted !== undefined) paths.push(Buffer.from(quoted.replace(ESCAPE, unescaped), 'latin1').toString())
    return quoted === undefined
  })
  return { paths, stderr: others.join('') }
}

const ESCAPE = /\\(x..|.)/g
const unescaped = (_: string, code: string): string =>
  code.length > 1 ? String.fromCharCode(Number.parseInt(code.slice(1), 16)) : ({ n: '\n', r: '\r', t: '\t' }[code] ?? code)

const namesHidden = (path: string): boolean => /(?:^|\/)\.(?!\.?(?:\/|$))/.test(path)

const NAMED = 5

function secretsNote(paths: readonly string[]): string {
  const more = paths.length - NAMED
  const named = `${paths.slice(0, NAMED).map(printable).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
  return `Not searched: ${plural(paths.length, 'file')} that may hold keys or passwords (${named}). Give one as path to search it; a person is asked first.`
}

function flags({ pattern, regex, ignore_case, exclude }: Input, root: SearchRoot): string[] {
  const lines = /\n|\\n/.test(pattern)
  return [
    `--regexp=${pattern}`,
    regex ? '--engine=auto' : '--fixed-strings',
    ignore_case === undefined ? '--smart-case' : ignore_case ? '--ignore-case' : '--case-sensitive',
    ...(lines ? ['--multiline'] : []),
    ...(exclude === undefined ? [] : [`--glob=!${exclude}`]),
    ...(root.at.output ? ['--no-ignore', '--hidden'] : []),
  ]
}

interface Answer {
  readonly found: string
  readonly paged: Page<unknown>
  readonly body: string
  readonly display: string
  readonly data: { readonly total: number } & Record<string, unknown>
  readonly notes: readonly string[]
}

function answer({ pattern, page }: Input, { found, paged, body, display, data, notes }: Answer): ToolOk {
  const heading = `${found}${paged.pages > 1 ? `, page ${page} of ${paged.pages}` : ''}`
  return ok(data, {
    content: `${heading}\n${body}${nextPage(paged)}`,
    display: `**${heading}** for \`${pattern}\`\n\n${display}`,
    count: data.total,
    page,
    hasMore: paged.hasMore,
    ...(notes.length > 0 ? { notes } : {}),
  })
}

function nothing({ pattern, regex, include, exclude }: Input, { at }: SearchRoot, found: readonly string[]): ToolOk {
  const plainer = regex ? withoutDoubling(pattern) : undefined
  const notes = plainer === undefined ? found : [...found, `The pattern looks for a backslash. Without it: ${plainer}`]
  const within = [...(include === undefined ? [] : [`include=${include}`]), ...(exclude === undefined ? [] : [`exclude=${exclude}`])]
  const where = `"${at.relative}"${within.length > 0 ? ` with ${within.join(', ')}` : ''}`
  const without = at.kind === 'file' || at.output ? '' : ' (without hidden and git-ignored files)'
  return empty({ files: [], total: 0 }, `No match for ${JSON.stringify(pattern)} in ${where}${without}.`, notes.length > 0 ? { notes } : {})
}

const MODES: Readonly<Record<string, Input['mode']>> = { files_with_matches: 'files', files_only: 'files', lines: 'content' }

/** Parameters that may come as a list. */
const GLOBS = /^(?:include|exclude|glob)/i

/** What ripgrep calls a type, where its files end otherwise. */
const TYPES: Readonly<Record<string, string>> = {
  js: '*.{js,jsx,mjs,cjs}',
  ts: '*.{ts,tsx,mts,cts}',
  typescript: '*.{ts,tsx,mts,cts}',
  javascript: '*.{js,jsx,mjs,cjs}',
  py: '*.{py,pyi}',
  python: '*.{py,pyi}',
  rust: '*.rs',
  ruby: '*.rb',
  md: '*.{md,markdown}',
  markdown: '*.{md,markdown}',
  c: '*.{c,h}',
  cpp: '*.{cpp,cc,cxx,hpp,hh,h}',
  yaml: '*.{yaml,yml}',
  html: '*.{html,htm}',
  csharp: '*.cs',
  kotlin: '*.{kt,kts}',
  sh: '*.{sh,bash}',
}

const ofType = (type: string): string => TYPES[type] ?? `*.${type}`

/** Other agents' `output_mode` words, types of files, and lists of globs. */
function fromOthers(call: Record<string, unknown>): Record<string, unknown> {
  const { output_mode, type, case_sensitive, multiline: _, '-A': after, '-B': before, '-C': around, ...rest } = call
  const mode = typeof output_mode === 'string' ? (MODES[output_mode] ?? output_mode) : undefined
  const lines = [after, before, around].filter((count) => count !== undefined)
  const globs = Object.entries(rest).map(([name, value]) => [name, GLOBS.test(name) ? oneGlob(value) : value])
  return {
    ...(typeof type === 'string' && { include: ofType(type) }),
    ...Object.fromEntries(globs),
    ...(mode === undefined ? {} : { mode }),
    ...(lines.length > 0 && {
      context: lines.every((count) => Number.isFinite(Number(count))) ? Math.max(...lines.map(Number)) : lines[0],
    }),
    ...(typeof case_sensitive === 'boolean' && { ignore_case: !case_sensitive }),
  }
}

const oneGlob = (globs: unknown): unknown =>
  Array.isArray(globs) && globs.every((glob) => typeof glob === 'string') ? (globs.length === 1 ? globs[0] : `{${globs.join(',')}}`) : globs
