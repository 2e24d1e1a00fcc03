import { posix } from 'node:path'
import { defineTool, ModelRetry, ok, type Tool, type ToolContext, type ToolOk } from '@mulligan/core'
import { nearest } from '@mulligan/core/executor'
import { z } from 'zod'
import { frontMatterOf } from '../note/front-matter.ts'
import { headingsOf, sectionOf } from '../note/headings.ts'
import { parseNote } from '../note/parse.ts'
import { noteLink, type OpenVault, reading } from './shared.ts'

const input = z.object({
  name: z.string().trim().min(1).max(1000).describe('name or path; Name#Heading for a section'),
  page: z.int().min(1).max(10_000).default(1).describe('page'),
})
type Input = z.infer<typeof input>

/** Lines of a page. The executor bounds what reaches the model. */
const PAGE = 500

/** Reads a note. */
export const readNoteTool = (open: OpenVault): Tool =>
  reading(
    defineTool({
      name: 'read_note',
      description: "Reads one of the user's notes by its name, path or alias, with front matter. [[Links]] can be followed by name.",
      input,
      effect: 'read',
      untrusted: true,
      service: 'notes',
      timeout: 120,
      aliases: ['notes_read', 'get_note', 'open_note'],
      parameterAliases: { name: ['path', 'note', 'title', 'file'] },
      target: ({ name }) => name,
      examples: [
        { outcome: 'ok', input: { name: 'Plan' }, files: { 'Work/Plan.md': '---\ntags: [a]\n---\n# Plan\n' } },
        { outcome: 'retry', input: { name: 'Pland' }, files: { 'Work/Plan.md': 'x\n' }, why: 'the nearest name is given' },
        { outcome: 'retry', input: { name: 'Plan' }, files: { 'a/Plan.md': 'x\n', 'b/Plan.md': 'x\n' }, why: 'two have this name' },
      ],
      execute: (call, ctx) => read(open, call, ctx),
    }),
  )

async function read(open: OpenVault, { name, page }: Input, ctx: ToolContext): Promise<ToolOk> {
  const vault = await open()
  const path = await vault.find(name, ctx)
  const { file, text, hash } = await vault.read(path)
  const heading = /#([^|\]]+)/.exec(name)?.[1]?.trim()
  const part = heading === undefined ? text : section(text, heading, name)
  const lines = part.replace(/\n$/, '').split('\n')
  const pages = Math.max(1, Math.ceil(lines.length / PAGE))
  if (page > pages)
    throw new ModelRetry(`"${path}" has no page ${page}.`, {
      parameter: 'page',
      value: page,
      constraint: `1 to ${pages}`,
      suggestion: pages,
    })
  // Only a note that was read whole may be replaced.
  if (heading === undefined && page === pages) vault.workspace.seen.set(file.absolute, { hash })
  const { title = posix.basename(path).replace(/\.\w+$/, ''), tags } = parseNote(text)
  const shown = lines.slice((page - 1) * PAGE, page * PAGE).join('\n')
  const head = pages > 1 ? `${path} (lines ${(page - 1) * PAGE + 1}-${Math.min(page * PAGE, lines.length)} of ${lines.length})` : path
  return ok(
    { path, title, tags, frontMatter: await fieldsOf(text), text: shown },
    {
      content: `${head}\n\n${shown === '' ? '(empty)' : shown}`,
      display: noteLink(vault, { path, title }),
      ...(pages > 1 && { page, hasMore: page < pages }),
    },
  )
}

function section(text: string, heading: string, name: string): string {
  const found = sectionOf(text, heading)
  if (found) return text.slice(found.from, found.to)
  const all = headingsOf(text).map((one) => one.text)
  const [near] = nearest(heading, all, 1)
  const suggestion = near ?? all[0]
  throw new ModelRetry(`The note has no heading "${heading}".`, {
    ...{ errorType: 'not_found' as const, parameter: 'name', value: name, constraint: 'a heading of the note, or the note alone' },
    suggestion: suggestion === undefined ? name.replace(/#.*$/, '') : name.replace(/#.*$/, `#${suggestion}`),
    ...(all.length > 0 && { candidates: all.slice(0, 10).map((one) => name.replace(/#.*$/, `#${one}`)) }),
  })
}

/** Returns the fields of the front matter; nothing if it is not valid YAML. */
async function fieldsOf(text: string): Promise<unknown> {
  const { parse } = await import('yaml')
  try {
    const value: unknown = parse(frontMatterOf(text).fields, { maxAliasCount: 0 })
    return typeof value === 'object' && value !== null ? JSON.parse(JSON.stringify(value)) : {}
  } catch {
    return {}
  }
}
