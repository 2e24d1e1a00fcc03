import { posix } from 'node:path'
import { defineTool, empty, ok, type Tool, type ToolContext, type ToolOk } from '@mulligan/core'
import { z } from 'zod'
import { linkKey, noteKey } from '../note/links.ts'
import { parseNote } from '../note/parse.ts'
import { scanning, type Vault } from '../vault.ts'
import { checkPage, noteLink, type OpenVault, plural, reading } from './shared.ts'

const input = z.object({
  name: z.string().trim().min(1).max(1000).describe('name or path of the note'),
  page: z.int().min(1).max(10_000).default(1).describe('page'),
})
type Input = z.infer<typeof input>

const PAGE = 20
const MAX_LINE = 200

/** Lists the notes that link to a note. */
export const backlinksTool = (open: OpenVault): Tool =>
  reading(
    defineTool({
      name: 'backlinks',
      description: "Lists the user's notes that link to a note, with the line of each link.",
      input,
      effect: 'read',
      untrusted: true,
      service: 'notes',
      timeout: 120,
      aliases: ['get_backlinks', 'note_backlinks'],
      parameterAliases: { name: ['path', 'note', 'title', 'file'] },
      target: ({ name }) => name,
      examples: [
        { outcome: 'ok', input: { name: 'Plan' }, files: { 'Plan.md': 'x\n', 'Day.md': 'See [[Plan]].\n' } },
        { outcome: 'empty', input: { name: 'Plan' }, files: { 'Plan.md': 'x\n' } },
        { outcome: 'retry', input: { name: 'Plann' }, files: { 'Plan.md': 'x\n' }, why: 'the nearest name is given' },
      ],
      execute: (call, ctx) => backlinks(open, call, ctx),
    }),
  )

async function backlinks(open: OpenVault, { name, page }: Input, ctx: ToolContext): Promise<ToolOk> {
  const vault = await open()
  const path = await vault.find(name, ctx)
  const sources = await vault.index.linking(path, scanning(ctx))
  if (sources.length === 0) return empty({ path, notes: [] }, `No note links to ${path}.`)
  checkPage(page, PAGE, sources.length)
  const shown = sources.slice((page - 1) * PAGE, page * PAGE)
  const found = await Promise.all(shown.map(async (source) => ({ path: source, lines: await linesOf(vault, source, path) })))
  return ok(
    { path, notes: found },
    {
      content: [
        `${plural(sources.length, 'note')} ${sources.length === 1 ? 'links' : 'link'} to ${path}`,
        ...found.map(({ path: source, lines }) => [source, ...lines.map((line) => `   ${line}`)].join('\n')),
      ].join('\n'),
      display: shown
        .map((source) => `- ${noteLink(vault, { path: source, title: posix.basename(source).replace(/\.\w+$/, '') })}`)
        .join('\n'),
      count: sources.length,
      page,
      hasMore: page * PAGE < sources.length,
    },
  )
}

async function linesOf(vault: Vault, source: string, path: string): Promise<readonly string[]> {
  const read = await vault.read(source).catch(() => undefined)
  if (!read) return []
  const name = posix.basename(noteKey(path))
  const positions = parseNote(read.text).links.filter((link) => posix.basename(linkKey(link, source) ?? '') === name)
  const lines = positions.map(({ at }) => {
    const from = read.text.lastIndexOf('\n', at) + 1
    const end = read.text.indexOf('\n', at)
    return read.text
      .slice(from, end === -1 ? undefined : end)
      .trim()
      .slice(0, MAX_LINE)
  })
  return [...new Set(lines)].slice(0, 3)
}
