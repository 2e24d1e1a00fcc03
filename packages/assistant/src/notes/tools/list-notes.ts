import { defineTool, empty, ok, type Tool, type ToolContext, type ToolOk } from '@mulligan/core'
import { z } from 'zod'
import { scanning } from '../vault.ts'
import { checkFilters, checkPage, dayOf, entryLine, filters, foldersOf, noteLink, type OpenVault, plural, reading } from './shared.ts'

const input = z.object({
  ...filters,
  sort: z.enum(['modified', 'name']).default('modified').describe('order: latest first, or by path'),
  limit: z.int().min(1).max(200).default(50).describe('notes per page'),
})
type Input = z.infer<typeof input>

/** Lists notes, and what folders and tags there are. */
export const listNotesTool = (open: OpenVault): Tool =>
  reading(
    defineTool({
      name: 'list_notes',
      description: "Lists the user's notes, latest first, of a folder or with a tag. Without either, also the folders and tags.",
      input,
      effect: 'read',
      untrusted: true,
      service: 'notes',
      timeout: 120,
      aliases: ['notes_list', 'list_vault'],
      parameterAliases: { folder: ['path', 'directory'], tag: ['tags'] },
      target: () => 'notes',
      subject: ({ folder, tag }) => [folder, tag && `#${tag}`].filter(Boolean).join(' '),
      examples: [
        { outcome: 'ok', input: { tag: 'work' }, files: { 'Plan.md': '#work\n', 'Other.md': 'x\n' } },
        { outcome: 'empty', input: {}, why: 'there are no notes' },
        { outcome: 'retry', input: { folder: 'Wrok' }, files: { 'Work/Plan.md': 'x\n' }, why: 'the nearest folder is named' },
      ],
      execute: (call, ctx) => list(open, call, ctx),
    }),
  )

const MAX_NAMED = 30

async function list(open: OpenVault, { folder, tag, sort, limit, page }: Input, ctx: ToolContext): Promise<ToolOk> {
  const vault = await open()
  const within = await checkFilters(vault, folder, tag)
  const { count, notes } = await vault.index.list({ ...within, limit, offset: (page - 1) * limit }, sort, scanning(ctx))
  const data = { notes: notes.map(({ path, title, mtime }) => ({ path, title, modified: new Date(mtime).toISOString() })) }
  if (count === 0) return empty(data, folder === undefined && tag === undefined ? 'There are no notes.' : 'No note fits.')
  checkPage(page, limit, count)
  const overview = page === 1 && folder === undefined && tag === undefined ? await overviewOf(open) : []
  return ok(data, {
    content: [plural(count, 'note'), ...overview, ...notes.map((note) => `${dayOf(note.mtime)} ${entryLine(note)}`)].join('\n'),
    display: notes.map((note) => `- ${noteLink(vault, note)} ${dayOf(note.mtime)}`).join('\n'),
    count,
    page,
    hasMore: page * limit < count,
  })
}

async function overviewOf(open: OpenVault): Promise<readonly string[]> {
  const { index } = await open()
  const folders = foldersOf(await index.names())
  const tags = await index.tags()
  const named = (label: string, all: readonly string[]): string[] =>
    all.length === 0
      ? []
      : [`${label}: ${all.slice(0, MAX_NAMED).join(', ')}${all.length > MAX_NAMED ? `, and ${all.length - MAX_NAMED} more` : ''}`]
  return [
    ...named('Folders', folders),
    ...named(
      'Tags',
      tags.map(({ tag, count }) => `#${tag} (${count})`),
    ),
  ]
}
