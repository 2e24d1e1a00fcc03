/** The workspace files that `@` can mention, without those that git ignores. */
import { type Candidate, candidate } from './fuzzy.ts'

const MAX_FILES = 100_000

export interface FileList {
  /**
   * Files and folders, these with `/` at their end. What was listed before is given at once; `fresh` asks for a new list.
   * Empty if they can't be listed.
   */
  readonly list: (fresh: boolean) => Promise<readonly Candidate[]>
}

/** Lists on first use. Two lists are never made at the same time. @param root the folder that is worked in */
export function workspaceFiles(root: string): FileList {
  let listed: Promise<readonly Candidate[]> | undefined
  let running = false
  return {
    list: (fresh) => {
      if (running || (listed && !fresh)) return listed as Promise<readonly Candidate[]>
      running = true
      listed = read(root).then(
        (found) => {
          running = false
          return found
        },
        () => {
          running = false
          return []
        },
      )
      return listed
    },
  }
}

/** What there is to do for each file is done as it comes: keys are read in between. */
async function read(root: string): Promise<readonly Candidate[]> {
  const { ripgrep } = await import('@mulligan/tools')
  const found: Candidate[] = []
  const folders = new Set<string>()
  let files = 0
  await ripgrep(['--files', '--hidden', '--null', '--no-messages', '--glob=!.git'], {
    cwd: root,
    separator: '\0',
    onRecord: (record) => {
      const file = process.platform === 'win32' ? record.replaceAll('\\', '/') : record
      if (isTypable(file)) {
        for (const folder of foldersAbove(file, folders)) found.push(candidate(folder))
        found.push(candidate(file))
      }
      return ++files < MAX_FILES
    },
  })
  return found
}

/** A name that a terminal would not show as it is, can't be meant by what is typed. */
const isTypable = (file: string): boolean => !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\ufffd]/u.test(file)

/** Those that are not known yet. */
function foldersAbove(file: string, known: Set<string>): string[] {
  const found: string[] = []
  for (let end = file.lastIndexOf('/'); end > 0; end = file.lastIndexOf('/', end - 1)) {
    const folder = file.slice(0, end + 1)
    if (known.has(folder)) break
    known.add(folder)
    found.push(folder)
  }
  return found
}
