import { defineTool, ModelRetry, type Tool, type ToolContext } from '@mulligan/core'
import { nearest } from '@mulligan/core/executor'
import { z } from 'zod'
import { headingsOf, sectionOf } from '../note/headings.ts'
import { cleanName, resolved, type Vault } from '../vault.ts'
import { bytesOf, type Plan, planned } from './plan.ts'
import type { OpenVault } from './shared.ts'
import { hashOf } from './write-note.ts'

const input = z.object({
  name: z.string().trim().min(1).max(1000).describe('name or path of the note'),
  content: z.string().min(1).describe('Markdown to add'),
  heading: z.string().optional().describe('add at the end of this section. Default: the end of the note'),
})
type Input = z.infer<typeof input>

/** Adds text to a note. */
export const appendNoteTool = (open: OpenVault): Tool =>
  defineTool({
    name: 'append_note',
    description: "Adds text to the end of one of the user's notes, or of one of its sections. The note must exist.",
    input,
    effect: 'write',
    service: 'notes',
    timeout: 120,
    aliases: ['notes_append', 'append_to_note', 'add_to_note'],
    parameterAliases: { name: ['path', 'title', 'note', 'file'], content: ['text', 'body', 'markdown'], heading: ['section'] },
    target: ({ name }) => cleanName(name),
    examples: [
      { outcome: 'ok', input: { name: 'Plan', content: '- more' }, files: { 'Plan.md': '- one\n' } },
      { outcome: 'retry', input: { name: 'Pland', content: 'x' }, files: { 'Plan.md': 'x\n' }, why: 'the nearest name is given' },
      {
        outcome: 'retry',
        input: { name: 'Plan', content: 'x', heading: 'Taks' },
        files: { 'Plan.md': '# Tasks\n' },
        why: 'no such heading',
      },
    ],
    ...planned(open, plan),
  })

async function plan(vault: Vault, { name, content, heading }: Input, ctx: Pick<ToolContext, 'signal' | 'progress'>): Promise<Plan> {
  const path = await vault.find(name, ctx)
  const { text, hash } = await vault.read(path)
  const file = await resolved(vault.workspace, path, 'name', 'write')
  const to = heading === undefined ? text.length : endOf(text, heading)
  const head = text.slice(0, to).trimEnd()
  const tail = text.slice(to)
  const added = content.replace(/\n+$/, '')
  // A list goes on; anything else begins a paragraph.
  const goesOn = isItem(added.split('\n')[0] ?? '') && isItem(head.split('\n').at(-1) ?? '')
  const after = `${head}${head === '' ? '' : goesOn ? '\n' : '\n\n'}${added}\n${tail === '' ? '' : `\n${tail}`}`
  const bytes = bytesOf(after)
  const wasRead = vault.workspace.seen.get(file.absolute)?.hash === hash
  return {
    changes: [{ kind: 'write', file, bytes, before: hash }],
    edits: [{ path, before: text, after, created: false }],
    data: { path },
    says: `Added to ${path}${heading === undefined ? '' : `, at the end of "${heading}"`}.`,
    ...(wasRead && { done: () => void vault.workspace.seen.set(file.absolute, { hash: hashOf(bytes) }) }),
  }
}

const isItem = (line: string): boolean => /^\s*(?:[-*+]|\d+[.)])\s/.test(line)

function endOf(text: string, heading: string): number {
  const found = sectionOf(text, heading.replace(/^#+\s*/, ''))
  if (found) return found.to
  const all = headingsOf(text).map((one) => one.text)
  const near = nearest(heading, all, 3)
  const [suggestion = all[0]] = near
  throw new ModelRetry(`The note has no heading "${heading}". Nothing was written.`, {
    ...{
      errorType: 'not_found' as const,
      parameter: 'heading',
      value: heading,
      constraint: all.length === 0 ? 'no heading: the note has none' : 'a heading of the note',
    },
    ...(suggestion !== undefined && { suggestion, candidates: all.filter((one) => one !== suggestion).slice(0, 10) }),
  })
}
