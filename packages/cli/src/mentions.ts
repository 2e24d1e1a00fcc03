/** Finds and writes file mentions in a text, as `@path` or `@"path with blanks"`. */
import { isAbsolute } from 'node:path'
import { fileURLToPath } from 'node:url'

const MENTION = /(?<=^|[\s([{'"`,;:])@(?:"((?:[^"\\\n]|\\.)*)"|([^\s"'`@][^\s"'`]*))/gu
/** Maximum length of a path. It limits the work on pasted text. */
const MAX_PATH = 4096
/** Punctuation that ends a sentence or a bracket, which does not belong to an unquoted path. */
const TRAILING = /[.,;:!?)\]}>*]+$/u
/** A path that needs no quotes. */
const PLAIN = /^[^\s"'`@\\][^\s"'`\\]*$/u

/** Returns the mentioned paths as written, in order and without duplicates. */
export function mentionsIn(text: string): string[] {
  const found = new Set<string>()
  for (const [, quoted, plain] of text.matchAll(MENTION)) {
    if ((quoted ?? plain ?? '').length > MAX_PATH) continue
    const path = quoted === undefined ? (plain ?? '').replace(TRAILING, '') : quoted.replace(/\\(.)/gu, '$1')
    if (path !== '') found.add(path)
  }
  return [...found]
}

/** Writes a path so that {@link mentionsIn} finds it, in quotes if necessary. */
export function mentionOf(path: string): string {
  if (PLAIN.test(path) && !TRAILING.test(path)) return `@${path}`
  return `@"${path.replace(/["\\]/g, '\\$&')}"`
}

export interface ResourceMention {
  readonly server: string
  readonly uri: string
}

/** Returns the resources of MCP servers that a text mentions, as `@server:uri`. @param servers those that have resources */
export const resourcesIn = (text: string, servers: readonly string[]): readonly ResourceMention[] =>
  mentionsIn(text).flatMap((mention) => {
    const at = mention.indexOf(':')
    const server = mention.slice(0, Math.max(0, at))
    return servers.includes(server) && at + 1 < mention.length ? [{ server, uri: mention.slice(at + 1) }] : []
  })

/** Tells the model which resources the person named; empty if none. */
export const RESOURCES = 'MCP resources named here, for read_mcp_resource: '
export const resourceNote = (named: readonly ResourceMention[]): string =>
  named.length === 0 ? '' : `(${RESOURCES}${named.map(({ server, uri }) => `${server} ${uri}`).join(', ')})`

export interface OpenMention {
  /** Offset of its `@`. */
  readonly from: number
  /** The part of the path typed so far. */
  readonly path: string
}

/** Returns the mention at the end of this text, complete or not. */
export function openMention(before: string): OpenMention | undefined {
  const start = Math.max(0, before.length - MAX_PATH)
  const match = /(?:^|[\s([{'"`,;:])@(?:"((?:[^"\\\n]|\\.)*)|([^\s"'`@][^\s"'`]*)?)$/u.exec(before.slice(start))
  if (!match) return undefined
  const [whole, quoted, plain = ''] = match
  const path = quoted === undefined ? plain : quoted.replace(/\\(.)/gu, '$1')
  return { from: start + match.index + whole.indexOf('@'), path }
}

const IMAGE = /\.(?:png|jpe?g|gif|webp)$/i
/** A word as a shell would read it: quoted, or with escaped blanks. */
const WORD = /'([^']*)'|"([^"]*)"|((?:\\.|[^\s\\'"])+)/gu

/**
 * Returns the mentions of images whose paths were pasted, as terminals do when files are dropped on them; undefined for any other text.
 * @param cwd the folder that mentions are relative to
 * @param isFile whether there is a file
 */
export function droppedImages(text: string, cwd: string, isFile: (path: string) => boolean): string | undefined {
  if (text.length > MAX_PATH || text.trim() === '' || text.replace(WORD, '').trim() !== '') return undefined
  const paths = [...text.matchAll(WORD)]
    .map(([, single, double, plain = '']) => single ?? double ?? plain.replace(/\\(.)/gu, '$1'))
    .map(pathOf)
  if (!paths.every((path) => isAbsolute(path) && IMAGE.test(path) && isFile(path))) return undefined
  return paths.map((path) => `${mentionOf(path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path)} `).join('')
}

const pathOf = (path: string): string => (path.startsWith('file://') && URL.canParse(path) ? tryPath(path) : path)

function tryPath(url: string): string {
  try {
    return fileURLToPath(url)
  } catch {
    // It names another host.
    return ''
  }
}
