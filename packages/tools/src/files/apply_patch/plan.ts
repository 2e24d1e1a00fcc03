/** What a patch comes to in a workspace. Reads, and writes nothing. */
import type { ModelRetry } from '@mulligan/core'
import type { Change } from '../../workspace/change.ts'
import { fsError } from '../../workspace/fs-error.ts'
import type { Resolved, ResolveOptions, Workspace } from '../../workspace/workspace.ts'
import type { FileLimits } from '../common/limits.ts'
import { readTextFile, type TextFile } from '../common/text-file.ts'
import { findPlaceholder } from '../write_file/placeholder.ts'
import { type Hunk, type HunkLine, mistake, type Patch, type Section } from './format/patch.ts'
import { PASSES } from './place/line-index.ts'
import type { Placed } from './place/place.ts'
import { updated } from './place/update.ts'
import { hunkRefused } from './refusal.ts'
import { placeRefused } from './suggest.ts'
import { changesFor, inOrder, moves } from './tree/changes.ts'
import { createTree, type PatchFile, type Tree } from './tree/tree.ts'

export interface Planned {
  readonly changes: readonly Change[]
  readonly files: readonly PatchFile[]
  readonly notes: readonly string[]
}

interface Planning {
  readonly workspace: Workspace
  readonly limits: FileLimits
  readonly tree: Tree
  readonly notes: string[]
}

/** @throws ModelRetry or ToolFailure for the first section that can't be applied */
export async function planPatch(workspace: Workspace, limits: FileLimits, patch: Patch): Promise<Planned> {
  const tree = createTree(workspace)
  const planning: Planning = { workspace, limits, tree, notes: [...patch.notes] }
  for (const section of patch.sections) {
    if (section.kind === 'add') await add(planning, section)
    else if (section.kind === 'delete') await remove(planning, section)
    else await update(planning, section)
  }
  await readWhatIsReplaced(planning)
  return { changes: changesFor(tree.files), files: tree.files, notes: planning.notes }
}

async function add({ workspace, limits, tree, notes }: Planning, section: Section): Promise<void> {
  const place = await placeOf(workspace, section, section.path, {})
  const lines = section.hunks.flatMap((hunk) => hunk.lines)
  refusePlaceholder(section.path, lines, [])
  const text = lines.map((line) => `${line.text}\n`).join('')
  const content = section.hunks.at(-1)?.bare ? text.slice(0, -1) : text
  const there = tree.get(place)
  if (there) {
    const link = await placeOf(workspace, section, section.path, { follow: false })
    if (link.isLink && tree.files.some(({ origin, at }) => origin?.absolute === link.absolute && !at))
      throw conflict(
        section,
        `"${section.path}" is a link to "${workspace.target(section.path)}"; a patch that deletes it can not write a file in its place.`,
        {
          constraint: 'the link deleted by one patch and the file added by the next; or the path of the file itself',
        },
      )
    const now = there.text ?? (await read(there, limits)).text
    if (now !== content)
      throw conflict(section, `"${place.relative}" exists already.`, {
        constraint: '"*** Update File: " for an existing file; or "*** Delete File: " before "*** Add File: " to replace all of it',
        ...(isOnDisk(there) && { call: { tool: 'read_file', input: { path: place.relative } } }),
      })
    notes.push(`"${place.relative}" has this content already.`)
    return
  }
  await refuseBlocked(tree, section, section.path, place)
  tree.create(place, content)
}

async function remove({ workspace, limits, tree }: Planning, section: Section): Promise<void> {
  const file = await fileAt(workspace, tree, section, false)
  if (section.hunks.length > 0) {
    const before = file.text ?? (await read(file, limits)).text
    const result = updated(before, section.hunks, true)
    if (!result.ok) throw hunkRefused({ ...result, path: section.path, text: before, onDisk: isOnDisk(file) })
    if (result.text !== '')
      throw conflict(section, `"${section.path}" has lines that its removal does not show.`, {
        constraint: 'a diff of the whole file, or "*** Delete File: "',
      })
  }
  tree.remove(file)
}

async function update(planning: Planning, section: Section): Promise<void> {
  const { workspace, limits, tree, notes } = planning
  const file = await fileAt(workspace, tree, section, section.to === undefined)
  if (section.hunks.length > 0) {
    const before = file.text ?? (await read(file, limits)).text
    const result = updated(before, section.hunks, section.literal)
    const stale = isStale(workspace, file)
    if (!result.ok) throw hunkRefused({ ...result, path: section.path, text: before, stale, onDisk: isOnDisk(file) })
    // In a changed file only the very text counts as the same place.
    if (stale && result.placed.some(({ pass }) => pass !== PASSES[0]))
      throw conflict(section, `"${section.path}" was changed since it was read, where this patch applies.`, {
        constraint: 'a patch of the file as it is now',
        call: { tool: 'read_file', input: { path: section.path } },
      })
    for (const { hunk } of result.placed)
      refusePlaceholder(
        section.path,
        hunk.lines.filter(isAdded),
        hunk.lines.filter((line) => !isAdded(line)),
      )
    notes.push(...result.placed.flatMap((placed) => noteOn(section.path, placed)))
    if (stale) notes.push(`"${section.path}" was changed elsewhere since it was read.`)
    file.text = result.text
    file.counts = counted(file, section.hunks)
  }
  if (section.to) await move(planning, section, file, section.to)
}

async function move(
  { workspace, tree }: Planning,
  section: Section,
  file: PatchFile,
  to: { readonly path: string; readonly line: number },
): Promise<void> {
  const place = await placeOf(workspace, { ...section, line: to.line }, to.path, { follow: false })
  if (place.absolute === file.at?.absolute) return
  await refuseBlocked(tree, { ...section, line: to.line }, to.path, place)
  if (file.origin && place.absolute.startsWith(`${file.origin.absolute}/`))
    throw conflict(section, `"${section.path}" can not be moved into itself.`, { constraint: 'a path outside of it' })
  tree.put(file, place)
}

/** @param follow whether a link stands for the file that it leads to */
async function fileAt(workspace: Workspace, tree: Tree, section: Section, follow: boolean): Promise<PatchFile> {
  const place = await placeOf(workspace, section, section.path, { follow })
  const file = tree.get(place)
  if (!file) {
    const gone = tree.files.some(({ origin }) => origin?.absolute === place.absolute)
    if (gone)
      throw conflict(section, `"${place.relative}" was moved or deleted further up in the patch.`, {
        constraint: 'the path as it is at this point of the patch',
      })
    await placeOf(workspace, section, section.path, { mustExist: true })
    throw conflict(section, `"${place.relative}" is a directory.`, { constraint: 'the path of a file' })
  }
  // Whether the file or the link is to be moved, nothing says.
  if (place.isLink && (section.kind === 'update' || (section.kind === 'delete' && section.hunks.length > 0)))
    throw conflict(section, `"${section.path}" is a link to "${workspace.target(section.path)}".`, {
      constraint: 'the path of the file itself',
      candidates: [workspace.target(section.path)],
    })
  return file
}

async function placeOf(workspace: Workspace, section: Section, path: string, options: ResolveOptions): Promise<Resolved> {
  try {
    return await workspace.resolve(path, { ...options, for: 'write' })
  } catch (error) {
    throw placeRefused(error, path, section.line)
  }
}

async function refuseBlocked(tree: Tree, section: Section, path: string, place: Resolved): Promise<void> {
  if (/[/\\]$/.test(path)) throw conflict(section, `"${path}" is a directory.`, { constraint: 'the path of a file' })
  const blocked = await tree.blocked(place)
  if (blocked === undefined) return
  const what = blocked !== place.relative ? `a part of "${place.relative}" is a file: "${blocked}".` : `"${blocked}" exists already.`
  throw conflict(section, what, { constraint: 'a path where nothing stands yet' })
}

const conflict = ({ line }: Section, says: string, more: { readonly constraint: string } & Record<string, unknown>): ModelRetry => {
  const { constraint, ...rest } = more
  return mistake({ text: '', number: line }, says, constraint, { errorType: 'conflict', value: undefined, ...rest })
}

async function read(file: PatchFile, limits: FileLimits): Promise<TextFile> {
  const origin = file.origin as Resolved
  try {
    file.original ??= await readTextFile(origin, limits, { tool: 'apply_patch', parameter: 'patch' })
    return file.original
  } catch (error) {
    throw fsError(error, origin.relative, 'read')
  }
}

/** So that what stands there is replaced only as it was. */
async function readWhatIsReplaced({ tree, limits }: Planning): Promise<void> {
  const now = new Set(tree.files.map(({ at }) => at?.absolute))
  for (const file of tree.files) if (file.origin && !file.at && now.has(file.origin.absolute)) await read(file, limits)
  for (const { file } of inOrder(moves(tree.files)).stuck) await read(file, limits)
}

/** Where it is and as it is now. */
const isOnDisk = ({ origin, at, text }: PatchFile): boolean => origin !== undefined && origin === at && text === undefined

function counted({ counts = { added: 0, removed: 0 } }: PatchFile, hunks: readonly Hunk[]): { added: number; removed: number } {
  const lines = hunks.flatMap((hunk) => hunk.lines)
  const of = (kind: HunkLine['kind']): number => lines.filter((line) => line.kind === kind).length
  return { added: counts.added + of('add'), removed: counts.removed + of('remove') }
}

const isAdded = ({ kind }: HunkLine): boolean => kind === 'add'

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

function refusePlaceholder(path: string, added: readonly HunkLine[], others: readonly HunkLine[]): void {
  const found = findPlaceholder(added.map(({ text }) => text).join('\n'))
  if (!found || others.some(({ text }) => text.includes(found.text))) return
  throw mistake(
    { text: found.text, number: added[found.line - 1]?.line ?? 1 },
    `a line of "${path}" stands for code that was left out: ${JSON.stringify(found.text)}.`,
    'the text, written out; lines that stay need not be in the patch',
  )
}
