/** Files that are named in a text, as `@path` or `@"path with blanks"`. */

const MENTION = /(?<=^|[\s([{'"`,;:])@(?:"((?:[^"\\\n]|\\.)*)"|([^\s"'`@][^\s"'`]*))/gu
/** Longer is not a path. It bounds the work on what was pasted. */
const MAX_PATH = 4096
/** Signs that end a sentence or a bracket are not part of a path that is not quoted. */
const TRAILING = /[.,;:!?)\]}>*]+$/u
/** A path as it may stand without quotes. */
const PLAIN = /^[^\s"'`@\\][^\s"'`\\]*$/u

/** Paths as they were written, in their order, each once. */
export function mentionsIn(text: string): string[] {
  const found = new Set<string>()
  for (const [, quoted, plain] of text.matchAll(MENTION)) {
    if ((quoted ?? plain ?? '').length > MAX_PATH) continue
    const path = quoted === undefined ? (plain ?? '').replace(TRAILING, '') : quoted.replace(/\\(.)/gu, '$1')
    if (path !== '') found.add(path)
  }
  return [...found]
}

/** How a path is written so that {@link mentionsIn} finds it: in quotes where it must be. */
export function mentionOf(path: string): string {
  if (PLAIN.test(path) && !TRAILING.test(path)) return `@${path}`
  return `@"${path.replace(/["\\]/g, '\\$&')}"`
}

export interface OpenMention {
  /** Where its `@` is. */
  readonly from: number
  /** What was typed of the path. */
  readonly path: string
}

/** The mention that ends at the end of this text, finished or not. */
export function openMention(before: string): OpenMention | undefined {
  const start = Math.max(0, before.length - MAX_PATH)
  const match = /(?:^|[\s([{'"`,;:])@(?:"((?:[^"\\\n]|\\.)*)|([^\s"'`@][^\s"'`]*)?)$/u.exec(before.slice(start))
  if (!match) return undefined
  const [whole, quoted, plain = ''] = match
  const path = quoted === undefined ? plain : quoted.replace(/\\(.)/gu, '$1')
  return { from: start + match.index + whole.indexOf('@'), path }
}
