import { posix } from 'node:path'
import { defineTool, ModelRetry, type Tool, type ToolContext } from '@mulligan/core'
import type { Change } from '@mulligan/tools'
import { z } from 'zod'
import { resolvedLink } from '../index/note-index.ts'
import { type Link, linkKey, markdownTarget, noteKey, type Rewrite, rewritten } from '../note/links.ts'
import { parseNote } from '../note/parse.ts'
import { cleanName, resolved, scanning, type Vault } from '../vault.ts'
import { bytesOf, type Edit, type Plan, planned } from './plan.ts'
import { type OpenVault, plural } from './shared.ts'
import { checkName, hashOf, notePath } from './write-note.ts'

const input = z.object({
  name: z.string().trim().min(1).max(1000).describe('name or path of the note'),
  to: z.string().trim().min(1).max(500).describe('new name or path; folder/ to keep the name'),
})
type Input = z.infer<typeof input>

/** Renames or moves a note, and the links to it. */
export const moveNoteTool = (open: OpenVault): Tool =>
  defineTool({
    name: 'move_note',
    description: "Renames or moves one of the user's notes. Links to it in other notes are changed with it.",
    input,
    effect: 'write',
    service: 'notes',
    timeout: 120,
    aliases: ['rename_note', 'notes_move'],
    parameterAliases: { name: ['path', 'note', 'from', 'source', 'old_name'], to: ['new_name', 'newName', 'destination', 'new_path'] },
    target: ({ name, to }) => [cleanName(name), cleanName(to)],
    examples: [
      { outcome: 'ok', input: { name: 'Plan', to: 'Plans/Friday' }, files: { 'Plan.md': 'x\n', 'Day.md': '[[Plan]]\n' } },
      { outcome: 'retry', input: { name: 'Plan', to: 'Day' }, files: { 'Plan.md': 'x\n', 'Day.md': 'x\n' }, why: 'there is one' },
      { outcome: 'retry', input: { name: 'Plam', to: 'Day' }, files: { 'Plan.md': 'x\n' }, why: 'the nearest name is given' },
    ],
    ...planned(open, plan),
  })

async function plan(vault: Vault, { name, to }: Input, ctx: Pick<ToolContext, 'signal' | 'progress'>): Promise<Plan> {
  const path = await vault.find(name, ctx)
  const target = targetPath(path, to)
  checkName(target, 'to')
  if (target === path)
    throw new ModelRetry(`"${path}" already has this name.`, {
      errorType: 'conflict',
      parameter: 'to',
      value: to,
      constraint: 'another name',
    })
  const from = await resolved(vault.workspace, path, 'name', 'write')
  const destination = await resolved(vault.workspace, target, 'to', 'write')
  if (destination.kind !== 'missing')
    throw new ModelRetry(`"${destination.relative}" exists.`, {
      errorType: 'conflict',
      parameter: 'to',
      value: to,
      constraint: 'a name that no note has',
    })
  const own = await vault.read(path)
  const names = (await vault.index.named(posix.basename(target), scanning(ctx))).filter(
    (one) => one !== path && noteKey(posix.basename(one)) === noteKey(posix.basename(target)),
  )
  const all = [...(await vault.index.named(posix.basename(path))).filter((one) => one !== path), path]
  const moved = rewritten(own.text, ownLinks(own.text, path, target, names.length > 0, all))
  const edits: Edit[] = [{ path: target, before: own.text, after: moved, created: false }]
  const changes: Change[] = [
    { kind: 'move', from, to: destination, before: own.hash, ...(moved !== own.text && { bytes: bytesOf(moved) }) },
  ]
  const left: string[] = []
  for (const source of await vault.index.linking(path)) {
    if (source === path) continue
    try {
      const { file, text, hash } = await vault.read(source)
      const after = rewritten(text, linksTo(text, source, path, target, names.length > 0, all))
      if (after === text) continue
      const writable = await resolved(vault.workspace, file.relative, 'name', 'write')
      changes.push({ kind: 'write', file: writable, bytes: bytesOf(after), before: hash })
      edits.push({ path: source, before: text, after, created: false })
    } catch {
      left.push(source)
    }
  }
  const rewrote = edits.slice(1).map((edit) => edit.path)
  return {
    changes,
    edits: edits.filter(({ before, after }) => before !== after),
    data: { from: path, path: target, rewritten: rewrote },
    says: `Moved ${path} to ${target}${rewrote.length === 0 ? '' : `, and changed its links in ${plural(rewrote.length, 'note')}: ${rewrote.slice(0, 20).join(', ')}`}.`,
    ...(left.length > 0 && { notes: [`These notes link to it and could not be changed: ${left.join(', ')}.`] }),
    done: () => {
      if (vault.workspace.seen.delete(from.absolute)) vault.workspace.seen.set(destination.absolute, { hash: hashOf(bytesOf(moved)) })
    },
  }
}

/** A name alone keeps the folder; a folder alone keeps the name. */
function targetPath(path: string, to: string): string {
  if (/[/\\]$/.test(to)) return posix.normalize(`${cleanName(to).replace(/\/+$/, '')}/${posix.basename(path)}`)
  const target = notePath(to)
  return target.includes('/') || to.trim().startsWith('/') ? target : posix.join(posix.dirname(path), target)
}

/** Rewrites the links of another note. @param ambiguous whether another note has the new name */
function linksTo(
  text: string,
  source: string,
  path: string,
  target: string,
  ambiguous: boolean,
  all: readonly string[],
): readonly Rewrite[] {
  return parseNote(text).links.flatMap((link): Rewrite[] => {
    const key = linkKey(link, source)
    if (key === undefined || resolvedLink(key, link.kind, source, all) !== path) return []
    return rewrite(link, link.kind === 'wiki' ? wikiTarget(link, target, ambiguous) : markdownTarget(source, target))
  })
}

/** Rewrites the links of the moved note: those to itself, and relative paths to others. */
function ownLinks(text: string, path: string, target: string, ambiguous: boolean, all: readonly string[]): readonly Rewrite[] {
  return parseNote(text).links.flatMap((link): Rewrite[] => {
    const key = linkKey(link, path)
    if (key === undefined) return []
    const isSelf = resolvedLink(key, link.kind, path, all) === path
    if (link.kind === 'wiki') return isSelf ? rewrite(link, wikiTarget(link, target, ambiguous)) : []
    if (isSelf) return rewrite(link, markdownTarget(target, target))
    if (posix.dirname(path) === posix.dirname(target) || link.target.startsWith('/')) return []
    return rewrite(link, markdownTarget(target, posix.join(posix.dirname(path), link.target)))
  })
}

/** Writes a wikilink as briefly as it was: by name, unless another note has the same. */
function wikiTarget({ target: written }: Link, target: string, ambiguous: boolean): string {
  const bare = target.replace(/\.(?:md|markdown)$/i, '')
  const path = written.includes('/') || ambiguous ? bare : posix.basename(bare)
  return /\.(?:md|markdown)$/i.test(written) ? `${path}.md` : path
}

const rewrite = ({ at, length, target }: Link, text: string): Rewrite[] => (text === target ? [] : [{ at, length, text }])
