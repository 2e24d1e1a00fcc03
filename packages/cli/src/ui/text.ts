/** Prints command output: one JSON object for programs, otherwise lines and tables. */
import type { NamedImage } from '@mulligan/agent'
import { oneLine, safeJson } from '@mulligan/host/light'
import type { Settings } from '@mulligan/host/parts'
import type { Output } from './output.ts'

/** The flags that most commands have. */
export interface FolderFlags {
  readonly cwd?: string
  readonly json?: boolean
}

/** Prints to stdout. */
export function print({ out }: Pick<Output, 'out'>, json: boolean | undefined, value: unknown, lines: readonly string[]): void {
  out(json ? `${safeJson(value)}\n` : lines.map((line) => `${line}\n`).join(''))
}

/** Formats text in columns: each is as wide as its widest cell, the last one unpadded. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)))
  const padded = (row: readonly string[]): readonly string[] =>
    row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
  return rows.map((row) => padded(row).join('  ').trimEnd())
}

/** Formats a count with its noun: `1 request`, `2 requests`. */
export const plural = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`

/** Formats a whole number with commas: `12,345`. The first `toLocaleString` of a process takes 10 ms. */
export const thousands = (count: number): string => String(count).replace(/\B(?=(?:\d{3})+$)/g, ',')

/** Names an image and its size: `shot.png (PNG, 12 KB)`. */
export const imageText = ({ name, mediaType, bytes }: NamedImage): string =>
  `${oneLine(name, 200)} (${oneLine(mediaType.replace('image/', '').toUpperCase(), 20)}, ${thousands(Math.ceil(bytes / 1024))} KB)`

/** Formats a time in local time, to the minute: `2026-11-22 07:05`. */
export const localTime = (at: number): string => new Date(at).toLocaleString('sv-SE', { dateStyle: 'short', timeStyle: 'short' })

/** Returns the mode, and whether `--yes` answers its questions. */
export const modeText = ({ approval }: Pick<Settings, 'approval'>, yes: boolean): string => `${approval.mode.value}${yes ? ' --yes' : ''}`
