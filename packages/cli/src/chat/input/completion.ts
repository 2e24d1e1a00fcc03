/** Finds completions for the word before the cursor: a command, a value, or a file. */
import { oneLine } from '@mulligan/host/light'
import { mentionOf, openMention } from '../../mentions.ts'
import { candidate, type FileList, fit, rank } from './files.ts'

export interface Completion {
  /** The text that replaces what was typed. Ends with a space if the word is complete. */
  readonly insert: string
  readonly label: string
  readonly description?: string
  /** Whether Enter submits it immediately, as for a command without further arguments. Default false. */
  readonly submits?: boolean
}

export interface Completions {
  /** The range to replace, as offsets into the text in UTF-16 code units. */
  readonly from: number
  readonly to: number
  /** Best match first. */
  readonly items: readonly Completion[]
}

/** Which result to insert without asking: none, the only one, or the best. */
export type Takes = 'none' | 'only' | 'best'

/** @param cursor an offset into the text, in UTF-16 code units */
export type Completer = (text: string, cursor: number, signal: AbortSignal) => Promise<Completions | undefined>

export interface Choice {
  readonly value: string
  readonly description?: string
}

export interface CommandChoice {
  /** Name without the `/`. */
  readonly name: string
  /** Other names, offered only when typed in full. */
  readonly aliases?: readonly string[] | undefined
  readonly description: string
  /** Possible arguments, best first, such as model names. If absent, the command takes no argument unless `takesText` is set. */
  readonly values?: ((signal: AbortSignal) => Promise<readonly Choice[]> | readonly Choice[]) | undefined
  /** Whether it takes free text. Default false. */
  readonly takesText?: boolean
  /** Whether it opens a panel if nothing follows its name. Default false. */
  readonly opens?: boolean | undefined
  /** What it takes, shown behind its name: `[ISSUE]`. */
  readonly usage?: string | undefined
}

export interface CompleterOptions {
  readonly commands: readonly CommandChoice[]
  /** Commands that come and go. */
  readonly more?: () => readonly CommandChoice[]
  /** If absent, no files are offered. */
  readonly files?: FileList
  readonly resources?: ResourceList
}

/** Resources of MCP servers, which are mentioned as `@SERVER:URI`. */
export interface ResourceList {
  readonly servers: () => readonly string[]
  /** Values are addresses. */
  readonly list: (server: string, signal: AbortSignal) => Promise<readonly Choice[]>
}

const MAX_ITEMS = 50
const MAX_USAGE = 30

/** Creates a completer. It only searches for the word being typed; the signal cancels the search. */
export function createCompleter({ commands, more = () => [], files, resources }: CompleterOptions): Completer {
  return async (text, cursor, signal) => {
    const before = text.slice(0, cursor)
    // Also replace the rest of the word after the cursor.
    const to = cursor + (/^[^\s"]*"?/.exec(text.slice(cursor))?.[0].length ?? 0)
    const [, name, typed] = /^\/(\S*)(?:[ \t]+([^\n]*))?$/.exec(before) ?? []
    if (name !== undefined && typed === undefined) return { from: 0, to, items: names(name, [...commands, ...more()]) }
    const values = [...commands, ...more()].find((one) => one.name === name)?.values
    if (values && typed !== undefined) return { from: cursor - typed.length, to, items: valueItems(typed, await values(signal)) }
    const mention = files && openMention(before)
    if (!mention) return undefined
    const servers = resources?.servers() ?? []
    const server = servers.find((one) => mention.path.startsWith(`${one}:`))
    if (resources && server !== undefined)
      return { from: mention.from, to, items: resourceItems(server, mention.path, await resources.list(server, signal)) }
    // A new `@` refreshes the list, because files come and go while the agent works.
    const candidates = await files.list(mention.path === '')
    signal.throwIfAborted()
    const best = await rank(mention.path.replace(/^\.\//, ''), candidates, { most: MAX_ITEMS, signal })
    const begun = mention.path === '' ? [] : servers.filter((one) => one.startsWith(mention.path))
    const open = begun.map((one) => ({ insert: `@${one}:`, label: `${one}:`, description: 'resources of the MCP server' }))
    return { from: mention.from, to, items: [...open, ...best.map((path) => ({ insert: fileInsert(path), label: path }))] }
  }
}

const resourceItems = (server: string, typed: string, resources: readonly Choice[]): Completion[] =>
  valueItems(typed.slice(server.length + 1), resources).map(({ insert, ...item }) => ({
    ...item,
    ...{ insert: `${mentionOf(`${server}:${insert.trimEnd()}`)} `, submits: false },
  }))

/** Returns the text to insert for a path. A folder stays open, so that a file in it can follow. */
const fileInsert = (path: string): string => (path.endsWith('/') ? mentionOf(path).replace(/"$/, '') : `${mentionOf(path)} `)

/** Adds a command by its other name: otherwise Enter would choose whatever resembles it. */
function withAlias(typed: string, commands: readonly CommandChoice[]): readonly CommandChoice[] {
  const meant = commands.find(({ aliases }) => aliases?.includes(typed.toLowerCase()))
  return meant ? [{ ...meant, name: typed.toLowerCase() }, ...commands] : commands
}

const names = (typed: string, commands: readonly CommandChoice[]): Completion[] =>
  fitting(typed, withAlias(typed, commands), ({ name }) => name).map(
    ({ name, description, usage, values, opens = false, takesText = false }) => ({
      insert: `/${name} `,
      label: usage === undefined ? `/${name}` : `/${name} ${oneLine(usage, MAX_USAGE)}`,
      description: oneLine(description),
      submits: opens || (!values && !takesText),
    }),
  )

/** Returns completions for values, except those that the terminal would not show verbatim: the text on screen must be the text sent. */
const valueItems = (typed: string, values: readonly Choice[]): Completion[] =>
  fitting(
    typed,
    values.filter(({ value }) => value === oneLine(value, value.length)),
    ({ value }) => value,
  )
    .slice(0, MAX_ITEMS)
    .map(({ value, description }) => ({
      ...{ insert: `${value} `, label: value, submits: true },
      ...(description !== undefined && { description: oneLine(description) }),
    }))

/** Returns the matches, best first; equal matches keep their order. */
function fitting<T>(typed: string, all: readonly T[], nameOf: (one: T) => string): T[] {
  return all
    .map((one) => ({ one, score: fit(typed.toLowerCase(), { ...candidate(nameOf(one)), base: 0 }) ?? -1 }))
    .filter(({ score }) => score >= 0)
    .sort((a, b) => b.score - a.score)
    .map(({ one }) => one)
}
