/** What the tools of the family share: filters, pages, and how a note is listed. */
import { posix } from 'node:path'
import { ModelRetry, type Tool } from '@mulligan/core'
import { nearest } from '@mulligan/core/executor'
import { z } from 'zod'
import type { NoteEntry } from '../index/note-index.ts'
import { tagKey } from '../note/parse.ts'
import type { Vault } from '../vault.ts'

export type OpenVault = () => Promise<Vault>

export const filters = {
  folder: z.string().optional().describe('only notes in this folder'),
  tag: z.string().optional().describe('only notes with this tag'),
  page: z.int().min(1).max(10_000).default(1).describe('page'),
}

/** Notes may contain what others wrote. Reading one sends nothing anywhere. */
export function reading({ sends: _, ...tool }: Tool): Tool {
  return tool
}

/** @throws ModelRetry for a folder or tag that does not exist, with the nearest one */
export async function checkFilters(vault: Vault, folder: string | undefined, tag: string | undefined) {
  const within = folder === undefined ? undefined : await folderNamed(vault, folder)
  const tagged = tag === undefined ? undefined : await tagNamed(vault, tag)
  return { folder: within, tags: tagged === undefined ? [] : [tagged] }
}

async function folderNamed(vault: Vault, asked: string): Promise<string | undefined> {
  const folder = asked.replace(/^\.?\/+|\/+$/g, '')
  if (folder === '' || folder === '.') return undefined
  const folders = foldersOf(await vault.index.names())
  const found = folders.find((one) => one === folder) ?? folders.find((one) => one.toLowerCase() === folder.toLowerCase())
  if (found !== undefined) return found
  const near = [...folders.filter((one) => one.toLowerCase().endsWith(`/${folder.toLowerCase()}`)), ...nearest(folder, folders, 5)]
  throw new ModelRetry(`There is no folder "${folder}" with notes.`, {
    ...{ errorType: 'not_found' as const, parameter: 'folder', value: asked, constraint: 'a folder that has notes' },
    ...(near.length > 0 && { suggestion: near[0], candidates: [...new Set(near.slice(1))] }),
  })
}

export const foldersOf = (paths: readonly string[]): readonly string[] => {
  const folders = new Set<string>()
  for (const path of paths) for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) folders.add(path.slice(0, at))
  return [...folders].sort()
}

/** A tag without any similar one is not an error: nothing has it. */
async function tagNamed(vault: Vault, asked: string): Promise<string> {
  const tag = tagKey(asked)
  const all = (await vault.index.tags()).map((one) => one.tag)
  if (all.some((one) => one === tag || one.startsWith(`${tag}/`))) return tag
  const near = nearest(tag, all, 5)
  if (near.length === 0) return tag
  throw new ModelRetry(`No note has the tag "${tag}".`, {
    ...{ errorType: 'not_found' as const, parameter: 'tag', value: asked, constraint: 'a tag that notes have' },
    ...{ suggestion: near[0], candidates: near.slice(1) },
  })
}

/** @throws ModelRetry for a page past the last one */
export function checkPage(page: number, limit: number, count: number): void {
  const last = Math.max(1, Math.ceil(count / limit))
  if (page <= last) return
  throw new ModelRetry(`There is no page ${page}.`, {
    ...{ parameter: 'page', value: page, constraint: `1 to ${last}`, suggestion: last },
  })
}

/** `path — title #tag`, without what would be said twice. */
export function entryLine({ path, title, tags }: NoteEntry): string {
  const isNamed = path.endsWith(`${title}.md`)
  return [path, ...(isNamed ? [] : [`— ${title}`]), ...(tags === '' ? [] : [tags])].join(' ').replaceAll(/\s+/g, ' ')
}

/** Parentheses would end the link. */
const encoded = (text: string): string => encodeURIComponent(text).replace(/[()]/g, (char) => `%${char.charCodeAt(0).toString(16)}`)

/** A link that opens the note in Obsidian, for the person. It does not name the folder's place on this machine. */
export function noteLink({ root }: Pick<Vault, 'root'>, { path, title }: Pick<NoteEntry, 'path' | 'title'>): string {
  const text = title.replaceAll(/[[\]\n\\]/g, ' ').trim()
  return `[${text === '' ? path : text}](obsidian://open?vault=${encoded(posix.basename(root))}&file=${encoded(path)})`
}

export const plural = (count: number, word: string): string => `${count.toLocaleString('en-US')} ${word}${count === 1 ? '' : 's'}`
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)
