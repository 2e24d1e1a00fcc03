/** Earlier prompts of a folder, one JSON line each, in the data folder and readable only by the user. */
import { createHash } from 'node:crypto'
import { appendFileSync, closeSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Texts that are offered. */
const MAX_ENTRIES = 1000
/** A longer text is remembered by this process only. */
const MAX_CHARACTERS = 64 * 1024
/** From this size on, in bytes, a file becomes the older of two. */
const MAX_BYTES = 1024 * 1024
/** A lock is held for microseconds: one as old as this, in milliseconds, was left by a process that died. */
const LOCK_DIES = 60_000

export interface PromptHistory {
  /** Oldest first, none twice. */
  readonly entries: () => readonly string[]
  /** A text that begins with a blank is not remembered. */
  readonly add: (text: string) => void
}

/** For this process only. */
export function memoryHistory(first: readonly string[] = [], remember: (text: string) => void = () => undefined): PromptHistory {
  const texts = new Set<string>()
  const push = (text: string): void => {
    texts.delete(text)
    texts.add(text)
    for (const oldest of texts) {
      if (texts.size <= MAX_ENTRIES) break
      texts.delete(oldest)
    }
  }
  for (const text of first) push(text)
  let entries: readonly string[] | undefined
  return {
    entries: () => (entries ??= [...texts]),
    add: (text) => {
      if (text.trim() === '' || /^\s/.test(text)) return
      push(text)
      entries = undefined
      remember(text)
    },
  }
}

/**
 * The history of a folder. Where its file can't be read or written, there is one for this process.
 *
 * Processes append to one file, each text with one write. A file that is full is renamed, not rewritten: what another process
 * writes at that moment is not lost.
 *
 * @param dataDir where the program keeps its data
 * @param folder the folder that is worked in, as a real path
 */
export function openHistory(dataDir: string, folder: string): PromptHistory {
  const dir = join(dataDir, 'history')
  const name = createHash('sha256').update(folder).digest('hex').slice(0, 16)
  const file = join(dir, `${name}.jsonl`)
  const older = join(dir, `${name}.old.jsonl`)
  const current = contentOf(file)
  // A write that was cut off must not take the next one with it.
  let before = current === '' || current.endsWith('\n') ? '' : '\n'

  return memoryHistory([...textsOf(contentOf(older)), ...textsOf(current)], (text) => {
    if (text.length > MAX_CHARACTERS) return
    quietly(() => {
      mkdirSync(dir, { recursive: true, mode: 0o700 })
      appendFileSync(file, `${before}${JSON.stringify({ text })}\n`, { mode: 0o600 })
      before = ''
      if (statSync(file).size > MAX_BYTES) rotate(file, older)
    })
  })
}

/** Two processes that do it at once would throw the older file away. */
function rotate(file: string, older: string): void {
  const lock = `${file}.lock`
  const since = statSync(lock, { throwIfNoEntry: false })?.mtimeMs
  if (since !== undefined && Date.now() - since > LOCK_DIES) rmSync(lock, { force: true })
  closeSync(openSync(lock, 'wx', 0o600))
  try {
    if (statSync(file).size > MAX_BYTES) renameSync(file, older)
  } finally {
    rmSync(lock, { force: true })
  }
}

/** A history that can't be kept must not keep anybody from writing. */
function quietly(act: () => void): void {
  try {
    act()
  } catch {
    // the text is in the memory of this process
  }
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/** A broken line is skipped. */
const textsOf = (content: string): readonly string[] =>
  content.split('\n').flatMap((line) => {
    try {
      const { text } = JSON.parse(line) as { readonly text?: unknown }
      return typeof text === 'string' ? [text] : []
    } catch {
      return []
    }
  })
