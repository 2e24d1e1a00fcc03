/** Plans how a patch changes a workspace. Reads files, but writes nothing. */
import type { ModelRetry } from '@mulligan/core'
import type { Change, Resolved } from '../../workspace/change.ts'
import { fsError, tryCall } from '../../workspace/errors.ts'
import type { ResolveOptions, Workspace } from '../../workspace/workspace.ts'
import type { FileLimits } from '../common/limits.ts'
import { readTextFile, type TextFile } from '../common/text-file.ts'
import { findPlaceholder } from '../write_file/placeholder.ts'
import { type HunkLine, mistake, type Patch, type Section, textsBut } from './format/patch.ts'
import { PASSES, type Placed, updated } from './place/place.ts'
import { hunkRefused, placeRefused } from './refusal.ts'
import { createTree, type PatchFile, type Tree } from './tree.ts'

export interface Planned {
  readonly changes: readonly Change[]
  readonly files: readonly PatchFile[]
  readonly notes: readonly string[]
}

interface Planning {
  readonly workspace: Workspace
  readonly read: (file: PatchFile) => Promise<TextFile>
  readonly tree: Tree
  readonly notes: string[]
}

/** @throws ModelRetry or ToolFailure for the first section that can't be applied */
export async function planPatch(workspace: Workspace, limits: FileLimits, patch: Patch): Promise<Planned> {
  const read: Planning['read'] = async (file) => {
    const origin = file.origin as Resolved
    try {
      file.original ??= await readTextFile(origin, limits, { tool: 'apply_patch', parameter: 'patch' })
      return file.original
    } catch (error) {
      throw fsError(error, origin.relative, 'read')
    }
  }
  const tree = createTree(workspace, read)
  const notes = [...patch.notes]
  const plan = { add, delete: remove, update }
  for (const section of patch.sections) await plan[section.kind]({ workspace, read, tree, notes }, section)
  return { changes: await tree.changes(), files: tree.files, notes }
}

async function add({ workspace, read, tree, notes }: Planning, section: Section): Promise<void> {
  const place = await placeOf(workspace, section.line, section.path, {})
  const lines = section.hunks.flatMap((hunk) => hunk.lines)
  refusePlaceholder(section.path, lines)
  const text = lines.map((line) => `${line.text}\n`).join('')
  const content = section.hunks.at(-1)?.bare ? text.slice(0, -1) : text
  const there = tree.get(place)
  if (there) {
    const link = await placeOf(workspace, section.line, section.path, { follow: false })
    if (link.isLink && tree.files.some(({ origin, at }) => origin?.absolute === link.absolute && !at))
      throw conflict(
        section,
        `"${section.path}" is a link to "${workspace.target(section.path)}"; a patch that deletes it can not write a file in its place.`,
        'the link deleted by one patch and the file added by the next; or the path of the file itself',
      )
    if (content !== (there.text ?? (await read(there)).text))
      throw conflict(
        section,
        `"${place.relative}" exists already.`,
        '"*** Update File: " for an existing file; or "*** Delete File: " before "*** Add File: " to replace all of it',
        isOnDisk(there) ? tryCall('read_file', { path: place.relative }) : {},
      )
    notes.push(`"${place.relative}" has this content already.`)
    return
  }
  await refuseBlocked(tree, section.line, section.path, place)
  tree.create(place, content)
}

async function remove({ workspace, read, tree }: Planning, section: Section): Promise<void> {
  const file = await fileAt(workspace, tree, section, false)
  if (section.hunks.length > 0) {
    const before = file.text ?? (await read(file)).text
    const result = updated(before, section.hunks, true)
    if (!result.ok) throw hunkRefused({ ...result, path: section.path, text: before, onDisk: isOnDisk(file) })
    if (result.text !== '')
      throw conflict(
        section,
        `"${section.path}" has lines that its removal does not show.`,
        'a diff of the whole file, or "*** Delete File: "',
      )
  }
  tree.remove(file)
}

async function update(planning: Planning, section: Section): Promise<void> {
  const { workspace, read, tree, notes } = planning
  const file = await fileAt(workspace, tree, section, section.to === undefined)
  if (section.hunks.length > 0) {
    const before = file.text ?? (await read(file)).text
    const result = updated(before, section.hunks, section.literal)
    const stale = isStale(workspace, file)
    if (!result.ok) throw hunkRefused({ ...result, path: section.path, text: before, stale, onDisk: isOnDisk(file) })
    // In a file that changed since it was read, only exact matches are safe.
    if (stale && result.placed.some(({ pass }) => pass !== PASSES[0]))
      throw conflict(
        section,
        `"${section.path}" was changed since it was read, where this patch applies.`,
        'a patch of the file as it is now',
        tryCall('read_file', { path: section.path }),
      )
    for (const { hunk } of result.placed) refusePlaceholder(section.path, hunk.lines)
    notes.push(...result.placed.flatMap((placed) => noteOn(section.path, placed)))
    if (stale) notes.push(`"${section.path}" was changed elsewhere since it was read.`)
    file.text = result.text
    const lines = section.hunks.flatMap((hunk) => hunk.lines)
    const count = (kind: HunkLine['kind']): number => lines.filter((line) => line.kind === kind).length
    const { added, removed } = file.counts ?? { added: 0, removed: 0 }
    file.counts = { added: added + count('add'), removed: removed + count('remove') }
  }
  const { to } = section
  if (!to) return
  const place = await placeOf(workspace, to.line, to.path, { follow: false })
  if (place.absolute === file.at?.absolute) return
  await refuseBlocked(tree, to.line, to.path, place)
  if (file.origin && place.absolute.startsWith(`${file.origin.absolute}/`))
    throw conflict(section, `"${section.path}" can not be moved into itself.`, 'a path outside of it')
  tree.put(file, place)
}

/** @param follow whether to resolve a link to its target file */
async function fileAt(workspace: Workspace, tree: Tree, section: Section, follow: boolean): Promise<PatchFile> {
  const place = await placeOf(workspace, section.line, section.path, { follow })
  const file = tree.get(place)
  if (!file) {
    const gone = tree.files.some(({ origin }) => origin?.absolute === place.absolute)
    if (gone)
      throw conflict(
        section,
        `"${place.relative}" was moved or deleted further up in the patch.`,
        'the path as it is at this point of the patch',
      )
    await placeOf(workspace, section.line, section.path, { mustExist: true })
    throw conflict(section, `"${place.relative}" is a directory.`, 'the path of a file')
  }
  // It is ambiguous whether to move the link or its target.
  if (place.isLink && (section.kind === 'update' || (section.kind === 'delete' && section.hunks.length > 0))) {
    const target = workspace.target(section.path)
    throw conflict(section, `"${section.path}" is a link to "${target}".`, 'the path of the file itself', { candidates: [target] })
  }
  return file
}

async function placeOf(workspace: Workspace, line: number, path: string, options: ResolveOptions): Promise<Resolved> {
  try {
    return await workspace.resolve(path, { ...options, for: 'write' })
  } catch (error) {
    throw placeRefused(error, path, line)
  }
}

async function refuseBlocked(tree: Tree, line: number, path: string, place: Resolved): Promise<void> {
  if (/[/\\]$/.test(path)) throw conflict({ line }, `"${path}" is a directory.`, 'the path of a file')
  const blocked = await tree.blocked(place)
  if (blocked === undefined) return
  const what = blocked !== place.relative ? `a part of "${place.relative}" is a file: "${blocked}".` : `"${blocked}" exists already.`
  throw conflict({ line }, what, 'a path that does not exist yet')
}

const conflict = ({ line }: Pick<Section, 'line'>, says: string, constraint: string, more: Record<string, unknown> = {}): ModelRetry =>
  mistake({ text: '', number: line }, says, constraint, { errorType: 'conflict', value: undefined, ...more })

/** Returns true if the disk still has the file at this path with this content. */
const isOnDisk = ({ origin, at, text }: PatchFile): boolean => origin !== undefined && origin === at && text === undefined

function isStale(workspace: Workspace, { origin, original }: PatchFile): boolean {
  const seen = origin && workspace.seen.get(origin.absolute)
  return seen?.hash !== undefined && original !== undefined && seen.hash !== original.hash
}

function noteOn(path: string, { hunk, pass, start, count, further }: Placed): string[] {
  const where = `The hunk on line ${hunk.line} of the patch`
  if (pass.note) return [`${where} matched "${path}" ${pass.note}.`]
  if (further) return [`${where} fits "${path}" in several places; the first was taken, line ${start + 1}.`]
  if (count === 0 && hunk.contexts.length > 0 && !hunk.endOfFile)
    return [`${where} has new lines only; they went below line ${start} of "${path}".`]
  return []
}

/** Refuses a line that stands for omitted code, unless the file contains it too. */
function refusePlaceholder(path: string, lines: readonly HunkLine[]): void {
  const added = lines.filter(({ kind }) => kind === 'add')
  const found = findPlaceholder(added.map(({ text }) => text).join('\n'))
  if (!found || textsBut('add', lines).some((text) => text.includes(found.text))) return
  throw mistake(
    { text: found.text, number: added[found.line - 1]?.line ?? 1 },
    `a line of "${path}" stands for code that was left out: ${JSON.stringify(found.text)}.`,
    'the text, written out; lines that stay need not be in the patch',
  )
}
