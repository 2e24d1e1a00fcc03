/** Reads a note: title, tags, aliases, headings and links. Pure, in one pass over text that may be hostile. */
import { frontMatterOf, listField } from './front-matter.ts'
import { type Link, linksIn } from './links.ts'
import { maskCode } from './mask.ts'

export interface ParsedNote {
  /** From the front matter; undefined if the name of the file is its title. */
  readonly title?: string
  /** Without `#`, in lower case, sorted. */
  readonly tags: readonly string[]
  readonly aliases: readonly string[]
  readonly links: readonly Link[]
  /** The text without front matter. */
  readonly body: string
}

/** A tag has at least one character that is not a digit. */
const TAG = /(?<=^|[\s(])#([\p{L}\p{N}_/-]*[\p{L}_/-][\p{L}\p{N}_/-]*)/gmu
const MAX_TAGS = 200

export function parseNote(text: string): ParsedNote {
  const { fields, start } = frontMatterOf(text)
  const body = text.slice(start)
  const masked = maskCode(body)
  const title =
    fields === ''
      ? undefined
      : /^title:[ \t]*(.+)$/m
          .exec(fields)?.[1]
          ?.trim()
          .replace(/^(["'])(.*)\1$/, '$2')
  const inline = masked.includes('#') ? [...masked.matchAll(TAG)].slice(0, MAX_TAGS).map(([, tag = '']) => tag) : []
  const tags = new Set([...listField(fields, 'tags'), ...listField(fields, 'tag'), ...inline].map(tagKey).filter((tag) => tag !== ''))
  return {
    ...(title && { title }),
    tags: [...tags].sort(),
    aliases: [...listField(fields, 'aliases'), ...listField(fields, 'alias')],
    links: linksIn(masked, start),
    body,
  }
}

export const tagKey = (tag: string): string => tag.normalize('NFC').toLowerCase().replace(/^#/, '').replace(/\/+$/, '').trim()
