import { defineTool, empty, ok, type Tool, type ToolContext, type ToolOk } from '@mulligan/core'
import { z } from 'zod'
import { describe } from '../../describe.ts'
import { ripgrep } from '../../ripgrep.ts'
import { printable } from '../../workspace/paths.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { fromEither, globParameter } from '../common/glob-match.ts'
import { DEFAULT_FILE_LIMITS, type FileLimits, WALK_TIMEOUT } from '../common/limits.ts'
import { nextPage, type Page, pageOf, plural } from '../common/page.ts'
import { searchRoot } from '../common/search-root.ts'
import { fenced } from '../common/unified-diff.ts'
import { withoutDoubling } from './bad-pattern.ts'
import { gather, pageOfMatches, rendered } from './matches.ts'
import { readAgain, withoutPlace } from './read-again.ts'
import { notesOn, ripgrepIn, type Search, secretsNote } from './search.ts'

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

/** Searches file contents with ripgrep. A search that was cut short says so and never reports "nothing found". */
export function grepTool(workspace: Workspace, limits: FileLimits = DEFAULT_FILE_LIMITS, run = ripgrep): Tool {
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

  async function grep(call: Input, { signal }: ToolContext): Promise<ToolOk> {
    const matches = call.include === undefined ? undefined : globParameter('include', call.include)
    if (call.exclude !== undefined) globParameter('exclude', call.exclude)
    const root = await searchRoot(workspace, call.path, { files: true })
    const included = matches ? fromEither(matches, root.prefix) : () => true
    const keep = (path: string): boolean => included(path) && workspace.shows(path)
    const named = root.at.kind === 'file' || root.at.output
    const { shows } = workspace
    const search: Search<Input> = { call, root, signal, limits, run, included, keep: named ? included : keep, shows, secrets: [] }
    const { notes, data, paged, body, display, found } = await (call.mode === 'content' ? content(search) : perFile(search))
    if (search.secrets.length > 0) notes.push(secretsNote(search.secrets.sort()))
    const says = data.total === 0 ? nothing(search, notes) : ''
    const also = notes.length > 0 ? { notes } : {}
    if (says !== '') return empty({ files: [], total: 0 }, says, also)
    const heading = `${found}${paged.pages > 1 ? `, page ${call.page} of ${paged.pages}` : ''}`
    return ok(data, {
      content: `${heading}\n${body}${nextPage(paged)}`,
      display: `**${heading}** for \`${call.pattern}\`\n\n${display}`,
      count: data.total,
      page: call.page,
      hasMore: paged.hasMore,
      ...also,
    })
  }
}

/** The result of one mode: a summary, the lines of the page, and the data for programs. */
interface Answer {
  readonly found: string
  readonly paged: Page<unknown>
  readonly body: string
  readonly display: string
  readonly data: { readonly total: number } & Record<string, unknown>
  readonly notes: string[]
}

const matchesIn = (total: number, files: number): string => `${plural(total, 'match', 'matches')} in ${plural(files, 'file')}`

async function content(search: Search<Input>): Promise<Answer> {
  const { call, root, limits } = search
  const { heldMatches: most, matchChars: chars } = limits
  const found = gather({ name: root.name, keep: search.keep, most, chars })
  const end = await ripgrepIn(search, ['--json', ...(call.context > 0 ? [`--context=${call.context}`] : [])], '\n', found.add)
  const { files, total } = found.result()
  const notes = notesOn(search, end, total)
  if (total > most) notes.push(`Only the first ${most} of ${total} matches can be paged. Narrow path, include or pattern.`)
  const paged = pageOf(Array.from({ length: Math.min(total, most) }), total === 0 ? 1 : call.page, call.limit)
  const held = pageOfMatches(files, call, chars)
  // A file that is searched by name was already opened.
  const wasOpen = root.at.kind === 'file' && process.platform === 'linux'
  const { files: shown, changed } = wasOpen ? { files: held.map(withoutPlace), changed: [] } : await readAgain(root, held, chars)
  if (changed.length > 0) notes.push(`Left out: ${changed.map(printable).join(', ')} changed during the search.`)
  const data = { files: shown, total, totalFiles: files.length, partial: end.stopped === 'deadline' || total > most }
  const body = rendered(shown)
  return { found: matchesIn(total, files.length), paged, body, display: fenced(body), data, notes }
}

async function perFile(search: Search<Input>): Promise<Answer> {
  const { call, root, limits, keep } = search
  const counts = new Map<string, number>()
  let beyond = 0
  const counting = call.mode === 'count'
  let begun = ''
  // `--count` ends a record with a newline and has a NUL after the file name, which may contain newlines itself; `--files-with-matches`
  // ends it with a NUL.
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
  const files = [...counts].map(([path, matches]) => (counting ? { path, matches } : { path })).sort((a, b) => (a.path < b.path ? -1 : 1))
  const notes = notesOn(search, end, files.length)
  if (beyond > 0) notes.push(`${plural(beyond, 'more file')} matched than can be listed. Narrow path, include or pattern.`)
  const total = counting ? [...counts.values()].reduce((sum, one) => sum + one, 0) : files.length
  const paged = pageOf(files, files.length === 0 ? 1 : call.page, call.limit)
  const lines = paged.items.map((file) => printable(file.path) + ('matches' in file ? `: ${file.matches}` : ''))
  return {
    found: counting ? matchesIn(total, files.length) : plural(total, 'file'),
    paged,
    body: lines.join('\n'),
    display: lines.map((line) => `- ${line}`).join('\n'),
    data: { files: paged.items, total, partial: end.stopped === 'deadline' || beyond > 0 },
    notes,
  }
}

/** Returns the message for a search without results. Mentions a doubled backslash in the pattern. */
function nothing({ call: { pattern, regex, include, exclude }, root: { at } }: Search, notes: string[]): string {
  const plainer = regex ? withoutDoubling(pattern) : undefined
  if (plainer !== undefined) notes.push(`The pattern looks for a backslash. Without it: ${plainer}`)
  const within = [...(include === undefined ? [] : [`include=${include}`]), ...(exclude === undefined ? [] : [`exclude=${exclude}`])]
  const without = at.kind === 'file' || at.output ? '' : ' (without hidden and git-ignored files)'
  return `No match for ${JSON.stringify(pattern)} in "${at.relative}"${within.length > 0 ? ` with ${within.join(', ')}` : ''}${without}.`
}

const MODES: Readonly<Record<string, Input['mode']>> = { files_with_matches: 'files', files_only: 'files', lines: 'content' }

/** Parameters that may be a list. */
const GLOBS = /^(?:include|exclude|glob)/i

/** Names of ripgrep's file types that differ from the file extension. */
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

/** Converts the `output_mode` values, file types and glob lists of other agents. */
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
