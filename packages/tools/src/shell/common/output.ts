/** Formats what a program printed, for the model and for the user. Pure, except for the timer of live lines. */
import { constants } from 'node:os'
import type { Completed } from '@mulligan/sandbox'
import { withoutColours } from '../../diagnostics/colours.ts'
import { plural, size } from '../../files/common/page.ts'
import { fenced } from '../../files/common/unified-diff.ts'

/** Output is binary if more than this share of its first `SAMPLE` characters is unreadable. */
const SAMPLE = 2000
const UNREADABLE = 0.1
/** Lines shown to the user. */
const SHOWN_LINES = 40
const SHOWN_WIDTH = 300

/** Removes colours, cursor movements and control characters. Of an overwritten line, keeps the final text. */
export const plainText = (printed: string): string =>
  withoutColours(printed)
    .split('\n')
    .map(lastWritten)
    .join('\n')
    .replace(/[\0-\x08\x0b-\x1f\x7f-\x9f]/g, '')

/** Applies carriage returns (progress bars) and backspaces within a line. */
function lastWritten(line: string): string {
  const written = line.includes('\r') ? (line.split('\r').findLast((part) => part.trim() !== '') ?? '') : line
  if (!written.includes('\b')) return written
  const kept: string[] = []
  for (const character of written)
    if (character === '\b') kept.pop()
    else kept.push(character)
  return kept.join('')
}

/** True if the output is binary data. */
export function isBinary(printed: string): boolean {
  const sample = printed.slice(0, SAMPLE)
  const odd = sample.match(/[\0-\x06\x0e-\x1a\x1c-\x1f\ufffd]/g)?.length ?? 0
  return odd > sample.length * UNREADABLE
}

const linesIn = (text: string): string[] => text.split('\n').filter((line) => line.trim() !== '')

/** Returns the last non-blank lines, each cut to `width`. */
export const lastLines = (text: string, most: number, width: number): string[] =>
  linesIn(text)
    .slice(-most)
    .map((line) => (line.length > width ? `${line.slice(0, width)}…` : line))

type Printed = Pick<Completed, 'stdout' | 'stderr'>

export const readable = ({ stdout, stderr }: Printed): Printed => ({ stdout: stream(stdout), stderr: stream(stderr) })

const stream = (printed: string): string =>
  isBinary(printed) ? `(binary, ${size(Buffer.byteLength(printed))})` : plainText(printed).trimEnd()

/** Returns stdout unchanged, with stderr below it under a label. */
export const outputText = ({ stdout, stderr }: Printed): string =>
  stderr === '' ? stdout : `${stdout === '' ? '' : `${stdout}\n`}[stderr]\n${stderr}`

/** Shows the user the end of the output, where programs report how it went, below the number of lines that came before. */
export function shownToPerson(printed: Printed): { readonly display?: string } {
  const text = outputText(printed)
  const lines = lastLines(text, SHOWN_LINES, SHOWN_WIDTH)
  const earlier = linesIn(text).length - lines.length
  return lines.length === 0
    ? {}
    : { display: fenced([...(earlier > 0 ? [`[${plural(earlier, 'earlier line')}]`] : []), ...lines].join('\n')) }
}

/** Notes what the output does not show: how much of it was dropped, and which files were moved away. */
export function remarks({ stdout, stderr, droppedBytes, removed = [] }: Completed): readonly string[] {
  const total = droppedBytes + Buffer.byteLength(stdout) + Buffer.byteLength(stderr)
  return [
    ...(droppedBytes === 0 ? [] : [`${size(total)} were printed; ${size(droppedBytes)} between the beginning and the end were not kept.`]),
    ...removed.map(({ path, to }) => `${path} was moved to ${to}: commands may not create it. Ask the user to do it outside the sandbox.`),
  ]
}

const SIGNALS: Readonly<Record<string, string>> = {
  SIGKILL: 'it was killed, often because memory ran out',
  SIGSEGV: 'it crashed (segmentation fault)',
  SIGBUS: 'it crashed (bus error)',
  SIGILL: 'it crashed (illegal instruction)',
  SIGFPE: 'it crashed (division by zero or the like)',
  SIGABRT: 'it aborted itself (a failed assertion or the like)',
  SIGTERM: 'it was asked to end',
  SIGINT: 'it was interrupted',
  SIGHUP: 'its terminal was closed',
  SIGPIPE: 'it wrote to a pipe that nobody reads',
  SIGXFSZ: 'a file exceeded the size limit',
  SIGXCPU: 'it exceeded the CPU time limit',
  SIGTRAP: 'it stopped at a breakpoint',
  SIGSYS: 'it called something that the sandbox forbids',
}

/** A shell exits with 128 plus the signal number when a signal ended the command. */
const OF_SIGNAL = 128
/** Describes how a command ended, for example `exited with code 139 (SIGSEGV: it crashed (segmentation fault))`. */
export function endingText({ exitCode, signal }: { readonly exitCode: number | null; readonly signal: string | null }): string {
  const name = exitCode === null ? signal : Object.entries(constants.signals).find(([, number]) => number === exitCode - OF_SIGNAL)?.[0]
  const meaning = SIGNALS[name ?? '']
  if (exitCode === null) return `was ended by ${signal ?? 'a signal'}${meaning === undefined ? '' : `: ${meaning}`}`
  return `exited with code ${exitCode}${meaning === undefined ? '' : ` (${name}: ${meaning})`}`
}

const EVERY_MS = 500
const LIVE_LINES = 5
const LIVE_WIDTH = 200
/** Characters buffered; only the end is shown. */
const MAX_HELD = 4000

/** Reports the latest lines of a running command to the user at intervals, and nothing after `end`. */
export function liveLines(tell: (message: string) => void) {
  let held = ''
  let timer: NodeJS.Timeout | undefined
  const flush = (): void => {
    timer = undefined
    const lines = lastLines(plainText(held), LIVE_LINES, LIVE_WIDTH)
    held = ''
    if (lines.length > 0) tell(lines.join('\n'))
  }
  const push = (text: string): void => {
    held = (held + text).slice(-MAX_HELD)
    timer ??= setTimeout(flush, EVERY_MS).unref()
  }
  return { push, end: () => clearTimeout(timer) }
}
