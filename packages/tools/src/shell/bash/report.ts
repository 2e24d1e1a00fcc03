/** What the model and the person read of a command's output. Pure. */
import type { Completed } from '@mulligan/sandbox'
import { size } from '../../files/common/page.ts'
import { fenced } from '../../files/common/unified-diff.ts'
import { isBinary, lastLines, plainText } from '../common/plain-text.ts'

export interface Printed {
  readonly stdout: string
  readonly stderr: string
}

/** Lines that a person is shown. */
const SHOWN_LINES = 40
const SHOWN_WIDTH = 300

export const readable = ({ stdout, stderr }: Printed): Printed => ({ stdout: stream(stdout), stderr: stream(stderr) })

const stream = (printed: string): string =>
  isBinary(printed) ? `(binary, ${size(Buffer.byteLength(printed))})` : plainText(printed).trimEnd()

/** stdout as it is; stderr below it, under its name. */
export function outputText({ stdout, stderr }: Printed): string {
  if (stderr === '') return stdout
  return `${stdout === '' ? '' : `${stdout}\n`}[stderr]\n${stderr}`
}

/** Its end, which is where it says how it went. */
export function shownToPerson(printed: Printed): { readonly display?: string } {
  const lines = lastLines(outputText(printed), SHOWN_LINES, SHOWN_WIDTH)
  return lines.length === 0 ? {} : { display: fenced(lines.join('\n')) }
}

/** What the output itself does not tell: how much there was of it, and what was taken away again. */
export function remarks({ stdout, stderr, droppedBytes, removed = [] }: Completed): readonly string[] {
  const total = droppedBytes + Buffer.byteLength(stdout) + Buffer.byteLength(stderr)
  return [
    ...(droppedBytes === 0 ? [] : [`${size(total)} were printed; ${size(droppedBytes)} between the beginning and the end were not kept.`]),
    ...removed.map(({ path, to }) => `${path} was moved to ${to}: commands can't make it. Ask the user to do that outside of the sandbox.`),
  ]
}
