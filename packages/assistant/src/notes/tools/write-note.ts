import { createHash } from 'node:crypto'
import { posix } from 'node:path'
import { defineTool, ModelRetry, type Tool, type ToolContext } from '@mulligan/core'
import { z } from 'zod'
import { frontMatterOf } from '../note/front-matter.ts'
import { cleanName, resolved, scanning, type Vault } from '../vault.ts'
import { bytesOf, type Plan, planned } from './plan.ts'
import type { OpenVault } from './shared.ts'

const input = z.object({
  name: z.string().trim().min(1).max(500).describe('name or path of the note'),
  content: z.string().describe('all of its Markdown'),
  overwrite: z.boolean().default(false).describe('replace an existing note'),
})
type Input = z.infer<typeof input>

/** Writes a whole note. Replaces an existing one only if the model has read it as it is now. */
export const writeNoteTool = (open: OpenVault): Tool =>
  defineTool({
    name: 'write_note',
    description: "Writes a note into the user's notes, a new one or all of an existing one that was read. To add to one, use append_note.",
    input,
    effect: 'write',
    service: 'notes',
    timeout: 120,
    aliases: ['notes_write', 'create_note', 'new_note'],
    parameterAliases: { name: ['path', 'title', 'note', 'file'], content: ['text', 'body', 'markdown'] },
    target: ({ name }) => notePath(name),
    examples: [
      { outcome: 'ok', input: { name: 'Work/Plan', content: '# Plan\n' } },
      { outcome: 'retry', input: { name: 'Plan', content: 'new\n' }, files: { 'Plan.md': 'old\n' }, why: 'it exists' },
      { outcome: 'retry', input: { name: 'a[b]', content: 'x\n' }, why: 'links could not name it' },
    ],
    ...planned(open, plan),
  })

/** Characters that wikilinks or file systems can't have in a name. */
const INVALID = /[[\]#^|\\:*?"<>\x00-\x1f]/

/** Returns the path that a new note gets. */
export const notePath = (name: string): string => {
  const path = posix.normalize(cleanName(name))
  return /\.(?:md|markdown)$/i.test(path) ? path : `${path}.md`
}

/** @throws ModelRetry */
export function checkName(name: string, parameter: string): void {
  const clean = name.trim().replace(/^!?\[\[([\s\S]*)\]\]$/, '$1')
  const bare = clean.replace(/\.(?:md|markdown)$/i, '')
  const [found] = INVALID.exec(bare) ?? []
  const last = posix.basename(bare).trim()
  if (found === undefined && last !== '' && !last.startsWith('.')) return
  const suggestion = bare
    .replaceAll(new RegExp(INVALID, 'g'), ' ')
    .replaceAll(/\s+/g, ' ')
    .replace(/(^|\/)\.+/g, '$1')
    .trim()
  throw new ModelRetry(found === undefined ? 'The name of a note is missing.' : `A note's name can't contain ${JSON.stringify(found)}.`, {
    ...{ parameter, value: name, constraint: 'a name without [ ] # ^ | \\ : * ? " < >, not beginning with a dot' },
    ...(posix.basename(suggestion) !== '' && { suggestion }),
  })
}

async function plan(vault: Vault, { name, content, overwrite }: Input, ctx: Pick<ToolContext, 'signal' | 'progress'>): Promise<Plan> {
  checkName(name, 'name')
  const found = await vault.index.named(cleanName(name), scanning(ctx))
  const existing = found.find((path) => path === notePath(name)) ?? (cleanName(name).includes('/') ? undefined : found[0])
  if (existing !== undefined) return replacing(vault, existing, content, overwrite)
  const file = await resolved(vault.workspace, notePath(name), 'name', 'write')
  if (file.kind !== 'missing')
    throw new ModelRetry(`"${file.relative}" exists and is not a note.`, {
      errorType: 'conflict',
      parameter: 'name',
      value: name,
      constraint: 'the name of a note',
    })
  const bytes = bytesOf(content)
  return {
    changes: [{ kind: 'write', file, bytes, before: undefined }],
    edits: [{ path: file.relative, before: '', after: content, created: true }],
    data: { path: file.relative, created: true },
    says: `Created ${file.relative}.`,
    done: () => void vault.workspace.seen.set(file.absolute, { hash: hashOf(bytes) }),
  }
}

async function replacing(vault: Vault, path: string, content: string, overwrite: boolean): Promise<Plan> {
  const { text, hash } = await vault.read(path)
  const file = await resolved(vault.workspace, path, 'name', 'write')
  const kept = frontMatterOf(content).fields === '' ? text.slice(0, frontMatterOf(text).start) : ''
  const after = kept + content
  if (after === text)
    return { changes: [], edits: [], data: { path, created: false }, says: `${path} is unchanged: it already has this content.` }
  const seen = vault.workspace.seen.get(file.absolute)
  if (seen?.hash !== hash && !vault.workspace.trustPresent)
    throw new ModelRetry(`The note "${path}" exists and was ${seen ? 'changed since it was read' : 'not read yet'}. Nothing was written.`, {
      ...{ errorType: 'conflict' as const, parameter: 'name', value: path, constraint: 'a new note, or one that was read as it is now' },
      call: { tool: 'read_note', input: { name: path } },
    })
  if (!overwrite)
    throw new ModelRetry(`The note "${path}" exists.`, {
      ...{
        errorType: 'conflict' as const,
        parameter: 'overwrite',
        value: overwrite,
        constraint: 'true to replace an existing note',
        suggestion: true,
      },
    })
  const bytes = bytesOf(after)
  return {
    changes: [{ kind: 'write', file, bytes, before: hash }],
    edits: [{ path, before: text, after, created: false }],
    data: { path, created: false },
    says: `Replaced ${path}.`,
    ...(kept !== '' && { notes: ['Its front matter was kept.'] }),
    done: () => void vault.workspace.seen.set(file.absolute, { hash: hashOf(bytes) }),
  }
}

export const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
