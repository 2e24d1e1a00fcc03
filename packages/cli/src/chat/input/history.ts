/** Stores the earlier prompts of a folder, one JSON line each, in the data folder, readable only by the user. */
import { createHash } from 'node:crypto'
import { appendFileSync, closeSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Maximum number of prompts offered. */
const MAX_ENTRIES = 1000
/** Maximum length of a stored prompt; a longer one is only remembered by this process. */
const MAX_CHARACTERS = 64 * 1024
/** Size in bytes at which the file is rotated. One older file is kept. */
const MAX_BYTES = 1024 * 1024
/** Age in milliseconds at which a lock counts as abandoned by a dead process. A live lock lasts microseconds. */
const LOCK_DIES = 60_000

export interface PromptHistory {
  /** Returns the prompts, oldest first and without duplicates. */
  readonly entries: () => readonly string[]
  /** Adds a prompt, unless it begins with a space. */
  readonly add: (text: string) => void
}

/** Creates a history for this process only. */
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
 * Opens the history of a folder. If its file cannot be read or written, the history lasts only for this process.
 *
 * Processes append to one file, each prompt with a single write. A full file is renamed, not rewritten, so that concurrent writes of other
 * processes are not lost.
 *
 * @param dataDir the program's data folder
 * @param folder the working folder, as a real path
 */
export function openHistory(dataDir: string, folder: string): PromptHistory {
  const dir = join(dataDir, 'history')
  const name = createHash('sha256').update(folder).digest('hex').slice(0, 16)
  const file = join(dir, `${name}.jsonl`)
  const older = join(dir, `${name}.old.jsonl`)
  const current = contentOf(file)
  // A truncated write must not corrupt the next line.
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

/** Renames the full file under a lock. Two processes rotating at once would discard the older file. */
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

/** Ignores errors, because a broken history must not stop the user from typing. */
function quietly(act: () => void): void {
  try {
    act()
  } catch {
    // The text is still in this process's memory.
  }
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/** Parses the prompts, skipping broken lines. */
const textsOf = (content: string): readonly string[] =>
  content.split('\n').flatMap((line) => {
    try {
      const { text } = JSON.parse(line) as { readonly text?: unknown }
      return typeof text === 'string' ? [text] : []
    } catch {
      return []
    }
  })
