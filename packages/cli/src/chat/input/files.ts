/** The workspace files that `@` can mention, without those ignored by git, and the fuzzy matching that ranks them. */

const MAX_FILES = 100_000

export interface FileList {
  /**
   * Returns files and folders; folders end with `/`. Returns the existing list unless `fresh` requests a new one. Empty if the files cannot
   * be listed.
   */
  readonly list: (fresh: boolean) => Promise<readonly Candidate[]>
}

/** Creates a file list that is filled on first use. Only one listing runs at a time. @param root the working folder */
export function workspaceFiles(root: string): FileList {
  let listed: Promise<readonly Candidate[]> | undefined
  let running = false
  return {
    list: (fresh) => {
      if (listed && (running || !fresh)) return listed
      running = true
      listed = read(root)
        .catch(() => [])
        .finally(() => {
          running = false
        })
      return listed
    },
  }
}

/** Reads the list, processing each file as it arrives, so that keys are handled in between. */
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

/** Whether a name can be typed. Excludes names that the terminal would not show verbatim. */
const isTypable = (file: string): boolean => !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\ufffd]/u.test(file)

/** Returns the parent folders that are not known yet. */
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

export interface Candidate {
  readonly path: string
  /** The path in lower case. */
  readonly folded: string
  /** Offset at which the last path segment begins. */
  readonly base: number
  /** Number of folders above it. */
  readonly depth: number
}

export function candidate(path: string): Candidate {
  const end = path.endsWith('/') ? path.length - 1 : path.length
  let depth = 0
  for (let at = path.indexOf('/'); at !== -1 && at < end; at = path.indexOf('/', at + 1)) depth++
  return { path, folded: path.toLowerCase(), base: path.lastIndexOf('/', end - 1) + 1, depth }
}

/** Scores how well the path matches, higher is better; `undefined` if it does not match. @param query in lower case */
export function fit(query: string, { folded, base }: Candidate): number | undefined {
  if (query === '') return 0
  if (folded.startsWith(query, base)) return rated(folded.slice(base + query.length))
  const inPath = folded.lastIndexOf(query)
  if (inPath >= base) return /[^\p{L}\p{N}]/u.test(folded[inPath - 1] ?? '') ? 70 : 60
  const inName = query.includes('/') ? undefined : spanOf(query, folded, base)
  if (inName !== undefined) return 50 - looseness(inName, query)
  if (inPath !== -1) return inPath === 0 || folded[inPath - 1] === '/' ? 40 : 30
  const span = spanOf(query, folded, 0)
  return span === undefined ? undefined : 20 - looseness(span, query)
}

/** Scores a name prefix by what follows it: nothing, only the extension, or more. */
const rated = (rest: string): number => (rest === '' || rest === '/' ? 100 : rest.startsWith('.') ? 90 : 80)

/** Penalty for the letters between the matched ones, at most 9. */
const looseness = (span: number, query: string): number => Math.min(9, (span - query.length) / 3)

/** Returns the length from the first to the last matched letter, searching backward from the end; `undefined` if not all letters occur. */
function spanOf(query: string, text: string, from: number): number | undefined {
  let at = text.length
  let end = 0
  for (let letter = query.length - 1; letter >= 0; letter--) {
    at = at === 0 ? -1 : text.lastIndexOf(query[letter] as string, at - 1)
    if (at < from) return undefined
    if (letter === query.length - 1) end = at + 1
  }
  return end - at
}

/** Paths to process before yielding to the event loop. */
const AT_ONCE = 4000

export interface RankOptions {
  readonly most: number
  readonly signal?: AbortSignal
}

type Ranked = Candidate & { readonly score: number }

/** Ranks the candidates, best match first, then shorter paths. @throws the signal's reason */
export async function rank(query: string, candidates: readonly Candidate[], { most, signal }: RankOptions): Promise<string[]> {
  const wanted = query.toLowerCase()
  const best: Ranked[] = []
  for (const [index, one] of candidates.entries()) {
    if (index % AT_ONCE === 0) {
      // Handle pending key presses first; they may cancel this search.
      if (index > 0) await new Promise((resolve) => setImmediate(resolve))
      signal?.throwIfAborted()
    }
    const score = fit(wanted, one)
    if (score !== undefined) keepBest(best, { ...one, score }, most)
  }
  return best.map(({ path }) => path)
}

/** Inserts into a sorted list of limited length, which is faster than sorting everything. */
function keepBest(best: Ranked[], one: Ranked, most: number): void {
  const at = best.findLastIndex((other) => better(one, other) >= 0) + 1
  if (at === most) return
  best.splice(at, 0, one)
  if (best.length > most) best.pop()
}

const better = (a: Ranked, b: Ranked): number =>
  b.score - a.score || a.depth - b.depth || a.path.length - b.path.length || (a.path < b.path ? -1 : 1)
