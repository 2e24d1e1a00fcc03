/** Finds completions for the word before the cursor: a command, a value, or a file. */
import { oneLine } from '@mulligan/host/light'
import { mentionOf, openMention } from '../../mentions.ts'
import type { FileList } from './files.ts'
import { candidate, fit, rank } from './fuzzy.ts'
import type { Completion, Completions } from './shown.ts'

/** @param cursor an offset of the text, in UTF-16 code units */
export type Completer = (text: string, cursor: number, signal: AbortSignal) => Promise<Completions | undefined>

export interface Choice {
  readonly value: string
  readonly description?: string
}

export interface CommandChoice {
  /** Without its `/`. */
  readonly name: string
  readonly description: string
  /** What may follow, best first, such as the names of models. Without it, a command takes nothing. */
  readonly values?: (signal: AbortSignal) => Promise<readonly Choice[]> | readonly Choice[]
  /** It takes something that has no list, such as a text. Default false. */
  readonly takesText?: boolean
}

export interface CompleterOptions {
  readonly commands: readonly CommandChoice[]
  /** Without it no file is offered. */
  readonly files?: FileList
  /** Paths that were used in the session, newest first. */
  readonly recentFiles?: () => readonly string[]
}

const MAX_ITEMS = 50

/** Nothing is looked for except for what is being typed; the signal stops it. */
export function createCompleter({ commands, files, recentFiles = () => [] }: CompleterOptions): Completer {
  return async (text, cursor, signal) => commandCompletions(text, cursor, commands, signal) ?? fileCompletions(text, cursor, signal)

  async function fileCompletions(text: string, cursor: number, signal: AbortSignal): Promise<Completions | undefined> {
    const mention = files && openMention(text.slice(0, cursor))
    if (!mention) return undefined
    // A new `@` asks for a new list: files come and go while the agent works.
    const candidates = await files.list(mention.path === '')
    signal.throwIfAborted()
    const best = await rank(mention.path.replace(/^\.\//, ''), candidates, { most: MAX_ITEMS, recent: recentFiles(), signal })
    return { from: mention.from, to: wordEnd(text, cursor), items: best.map((path) => ({ insert: fileInsert(path), label: path })) }
  }
}

/** A folder is left open: a file in it may be meant. */
const fileInsert = (path: string): string => (path.endsWith('/') ? mentionOf(path).replace(/"$/, '') : `${mentionOf(path)} `)

/** What of the word is behind the cursor is replaced with it. */
const wordEnd = (text: string, cursor: number): number => cursor + (/^[^\s"]*"?/.exec(text.slice(cursor))?.[0].length ?? 0)

function commandCompletions(
  text: string,
  cursor: number,
  commands: readonly CommandChoice[],
  signal: AbortSignal,
): Promise<Completions | undefined> | undefined {
  const before = text.slice(0, cursor)
  const to = wordEnd(text, cursor)
  const [, name, typed] = /^\/(\S*)(?:[ \t]+([^\n]*))?$/.exec(before) ?? []
  if (name === undefined) return undefined
  if (typed === undefined) return Promise.resolve({ from: 0, to, items: names(name, commands) })
  const values = commands.find((one) => one.name === name)?.values
  return values && valuesFor(typed, () => values(signal)).then((items) => ({ from: cursor - typed.length, to, items }))
}

const names = (typed: string, commands: readonly CommandChoice[]): Completion[] =>
  fitting(typed, commands, ({ name }) => name).map(({ name, description, values, takesText = false }) => ({
    insert: `/${name} `,
    label: `/${name}`,
    description: oneLine(description),
    submits: !values && !takesText,
  }))

async function valuesFor(typed: string, values: () => ReturnType<NonNullable<CommandChoice['values']>>): Promise<Completion[]> {
  // A value that a terminal would not show as it is, is not offered: what is seen is what is sent.
  const choices = (await values()).filter(({ value }) => value === oneLine(value, value.length))
  return fitting(typed, choices, ({ value }) => value)
    .slice(0, MAX_ITEMS)
    .map(({ value, description }) => ({
      insert: `${value} `,
      label: value,
      ...(description !== undefined && { description: oneLine(description) }),
      submits: true,
    }))
}

/** Best first; those that fit as well stay in their order. */
function fitting<T>(typed: string, all: readonly T[], nameOf: (one: T) => string): T[] {
  return all
    .map((one) => ({ one, score: fit(typed.toLowerCase(), { ...candidate(nameOf(one)), base: 0 }) }))
    .filter(({ score }) => score !== undefined)
    .sort((a, b) => (b.score as number) - (a.score as number))
    .map(({ one }) => one)
}
