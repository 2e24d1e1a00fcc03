/** Reads a folder of Markdown files with front matter, each of which defines something by its name. */
import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { oneLine } from '../common/sanitize.ts'
import { frontMatter } from './front-matter.ts'
import { readText } from './read-text.ts'

export interface FileProblem {
  readonly file: string
  /** One sentence. */
  readonly error: string
}

export interface MarkdownFile {
  /** The name of the file without `.md`. */
  readonly name: string
  /** For display. */
  readonly file: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly body: string
}

const MAX_FILES = 500

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
): Promise<readonly (T | FileProblem)[]> {
  return Promise.all(
    namesIn(folder).map(async (entry) => {
      const file = join(shown, entry)
      try {
        const { text, problem } = readText(root, join(folder, entry))
        if (text === undefined) throw new Error(problem ?? 'it does not exist')
        return read({ name: basename(entry, '.md'), file, ...(await frontMatter(text)) })
      } catch (error) {
        return { file, error: oneLine((error as Error).message, 300) }
      }
    }),
  )
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.md'))
      .sort()
      .slice(0, MAX_FILES)
  } catch {
    return []
  }
}
