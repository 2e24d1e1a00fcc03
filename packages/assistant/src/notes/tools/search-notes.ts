import { defineTool, empty, ModelRetry, ok, type Tool, type ToolContext, type ToolOk } from '@mulligan/core'
import { z } from 'zod'
import { readQuery } from '../index/query.ts'
import { snippetOf } from '../note/snippet.ts'
import { nearestNames, scanning } from '../vault.ts'
import { checkFilters, checkPage, entryLine, filters, noteLink, type OpenVault, plural, reading } from './shared.ts'

const input = z.object({
  query: z.string().trim().min(1).max(1000).describe('words, "a phrase", #tag'),
  limit: z.int().min(1).max(50).default(10).describe('notes per page'),
  ...filters,
})
type Input = z.infer<typeof input>

/** Searches the text of all notes. */
export const searchNotesTool = (open: OpenVault): Tool =>
  reading(
    defineTool({
      name: 'search_notes',
      description:
        "Searches the user's notes for all the words, best first: notes with the whole words, then those with longer ones. Use read_note to read one.",
      input,
      effect: 'read',
      untrusted: true,
      service: 'notes',
      timeout: 120,
      aliases: ['notes_search', 'find_notes', 'search_vault'],
      parameterAliases: { query: ['q', 'text', 'search', 'keywords'], folder: ['path', 'directory'], limit: ['max_results', 'count'] },
      subject: ({ query }) => query,
      target: () => 'notes',
      examples: [
        { outcome: 'ok', input: { query: 'planning friday' }, files: { 'Plan.md': 'Planning on Friday\n' } },
        { outcome: 'empty', input: { query: 'zebra' }, files: { 'Plan.md': 'Planning on Friday\n' } },
        { outcome: 'retry', input: { query: '...' }, files: { 'Plan.md': 'x\n' }, why: 'it has no word' },
        { outcome: 'retry', input: { query: 'x', folder: 'Wrok' }, files: { 'Work/Plan.md': 'x\n' }, why: 'the nearest folder is named' },
      ],
      execute: (call, ctx) => search(open, call, ctx),
    }),
  )

async function search(open: OpenVault, { query, limit, folder, tag, page }: Input, ctx: ToolContext): Promise<ToolOk> {
  const vault = await open()
  const terms = readQuery(query)
  if (terms.terms.length === 0)
    throw new ModelRetry(
      terms.tags.length > 0 ? 'The query names a tag and no word.' : 'The query has no word.',
      terms.tags.length > 0
        ? { parameter: 'query', value: query, constraint: 'at least one word', call: { tool: 'list_notes', input: { tag: terms.tags[0] } } }
        : { parameter: 'query', value: query, constraint: 'at least one word' },
    )
  const within = await checkFilters(vault, folder, tag)
  const { count, notes } = await vault.index.search(terms, { ...within, limit, offset: (page - 1) * limit }, scanning(ctx))
  const data = { notes: notes.map(({ path, title, tags }) => ({ path, title, tags: tags.split(' ').filter((one) => one !== '') })) }
  if (count === 0) return empty(data, await whyNothing(open, terms.terms), { notes: await similar(open, query) })
  checkPage(page, limit, count)
  const shown = await Promise.all(
    notes.map(async (note) => ({
      note,
      snippet: await vault.read(note.path).then(
        ({ text }) => snippetOf(text, terms.terms),
        () => '',
      ),
    })),
  )
  const line = (at: number): number => (page - 1) * limit + at + 1
  return ok(data, {
    content: [
      plural(count, 'note'),
      ...shown.map(({ note, snippet }, at) => `${line(at)}. ${entryLine(note)}${snippet === '' ? '' : `\n   ${snippet}`}`),
    ].join('\n'),
    display: shown
      .map(
        ({ note, snippet }, at) =>
          `${line(at)}. ${noteLink(vault, note)}${snippet === '' ? '' : `: ${snippet.replaceAll(/[\\`*_[\]<>#|]/g, '\\$&')}`}`,
      )
      .join('\n'),
    count,
    page,
    hasMore: page * limit < count,
  })
}

/** Says which of the words occur, because the others can be left out. */
async function whyNothing(open: OpenVault, terms: readonly string[]): Promise<string> {
  if (terms.length === 1) return 'No note has it.'
  const counts = await (await open()).index.counts(terms)
  const each = terms.map((term, at) => `"${term}" is in ${counts[at] === 0 ? 'none' : plural(counts[at] as number, 'note')}`)
  return `No note has all of them: ${each.join(', ')}.`
}

async function similar(open: OpenVault, query: string): Promise<readonly string[]> {
  const near = nearestNames(query, await (await open()).index.names())
  return near.length === 0 ? [] : [`Notes with similar names: ${near.join(', ')}.`]
}
