/** Finds the links of a note and rewrites them. Pure. */
import { posix } from 'node:path'

export interface Link {
  /** `[[target]]`, or `[text](target)`. */
  readonly kind: 'wiki' | 'markdown'
  /** The target without heading, decoded: a name, or a path. */
  readonly target: string
  /** Position of the target in the text, and its length as written. */
  readonly at: number
  readonly length: number
}

const LINK = /\[\[([^\]|#\n]{1,500})(?:#[^\]|\n]*)?(?:\|[^\]\n]*)?\]\]|\]\(<?([^)\s#>]{1,1000})(?:#[^)\s>]*)?>?(?:\s+"[^"\n]*")?\)/g
const EXTERNAL = /^(?:[a-z][a-z0-9+.-]*:|\/\/)/i

/** @param offset position of `masked` in the note, whose code is masked */
export function linksIn(masked: string, offset: number): readonly Link[] {
  if (!masked.includes('](') && !masked.includes('[[')) return []
  const links: Link[] = []
  for (const found of masked.matchAll(LINK)) {
    const [all, wiki, path] = found
    const written = wiki ?? path ?? ''
    if (wiki === undefined && EXTERNAL.test(written)) continue
    const at = offset + found.index + all.indexOf(written, wiki === undefined ? all.indexOf('(') : 0)
    links.push({
      kind: wiki === undefined ? 'markdown' : 'wiki',
      target: wiki === undefined ? decoded(written) : written.trim(),
      at,
      length: written.length,
    })
  }
  return links
}

function decoded(path: string): string {
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}

/**
 * Returns the key by which a link is found: a wikilink's name or path, a Markdown link's path in the vault. Undefined for one that leads out
 * of it.
 */
export function linkKey({ kind, target }: Pick<Link, 'kind' | 'target'>, source: string): string | undefined {
  const path =
    kind === 'wiki' ? posix.normalize(target.replace(/^\/+/, '')) : posix.join(target.startsWith('/') ? '.' : posix.dirname(source), target)
  return path.startsWith('..') ? undefined : noteKey(path)
}

/** Names are compared without case, extension and the way their characters are composed. */
export const noteKey = (path: string): string =>
  path
    .normalize('NFC')
    .toLowerCase()
    .replace(/\.(?:md|markdown)$/, '')

export interface Rewrite {
  readonly at: number
  readonly length: number
  readonly text: string
}

export function rewritten(text: string, rewrites: readonly Rewrite[]): string {
  let result = ''
  let from = 0
  for (const { at, length, text: by } of rewrites.toSorted((a, b) => a.at - b.at)) {
    result += text.slice(from, at) + by
    from = at + length
  }
  return result + text.slice(from)
}

/** Writes the target of a Markdown link from one note to another. */
export function markdownTarget(from: string, to: string): string {
  const path = posix.relative(posix.dirname(from), to)
  return encodeURI(path).replace(/[()#?]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}
