/** Reads a folder of Markdown files with front matter, each of which defines something by its name. */
import { type Dirent, readdirSync } from 'node:fs'
import { join, sep } from 'node:path'
import { oneLine } from '../common/sanitize.ts'
import { frontMatter } from './front-matter.ts'
import { readText } from './read-text.ts'

export interface FileProblem {
  readonly file: string
  /** One sentence. */
  readonly error: string
}

export interface MarkdownFile {
  /** The name of the file without `.md`, behind those of the folders that it is in: `web/fix`. */
  readonly name: string
  /** For display. */
  readonly file: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly body: string
}

const MAX_FILES = 500

interface How {
  /** How many folders deep files may be. Default 0. */
  readonly depth?: number
  /** Whether front matter that is not YAML is read line by line. Default false. */
  readonly isLenient?: boolean
}

/**
 * @param shown the folder, for display
 * @param root folder that the files must be in; undefined for the user's own files, which may be links to anywhere
 * @param read turns a file into what it defines. @throws Error with one sentence about what is wrong
 */
export function markdownFiles<T>(
  folder: string,
  shown: string,
  root: string | undefined,
  read: (file: MarkdownFile) => T,
  { depth = 0, isLenient = false }: How = {},
): Promise<readonly (T | FileProblem)[]> {
  return Promise.all(
    namesIn(folder, depth, MAX_FILES).map(async (entry) => {
      const file = join(shown, entry)
      try {
        const { text, problem } = readText(root, join(folder, entry))
        if (text === undefined) throw new Error(problem ?? 'it does not exist')
        return read({ name: entry.replace(/\.md$/, '').replaceAll(sep, '/'), file, ...(await frontMatter(text, isLenient)) })
      } catch (error) {
        return { file, error: oneLine((error as Error).message, 300) }
      }
    }),
  )
}

function namesIn(folder: string, depth: number, most: number): readonly string[] {
  const found: string[] = []
  for (const entry of entriesIn(folder)) {
    if (found.length >= most) break
    if (entry.name.endsWith('.md')) found.push(entry.name)
    else if (depth > 0 && entry.isDirectory())
      found.push(...namesIn(join(folder, entry.name), depth - 1, most - found.length).map((name) => join(entry.name, name)))
  }
  return found
}

function entriesIn(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch {
    return []
  }
}
