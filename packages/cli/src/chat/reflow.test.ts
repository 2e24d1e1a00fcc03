import { expect, it } from 'vitest'
import { createReflow } from './reflow.ts'

const UP = '\x1b[2K\x1b[1A'
/** Three rows and an empty one, with the cursor on the second. */
const FRAME = `${'x'.repeat(30)}\n> y\nstatus\n\x1b[2A\x1b[4G\x1b[?25h`
/** As the renderer draws it again: down to the last row, and up to the first. */
const AGAIN = `\x1b[?25l\x1b[2B\x1b[1G${UP.repeat(3)}\x1b[2K\x1b[G${FRAME}`
const erased = (rows: number): string => `\x1b[?25l${rows > 0 ? `\x1b[${rows}A` : ''}\x1b[G\x1b[2K\x1b[C\x1b[J\x1b[G${FRAME}`

it.each([
  ['leaves it as it is without a resize', 40, false, AGAIN],
  ['counts the rows of lines that are wrapped now', 20, true, erased(2)],
  ['begins at the cursor if the rows below it may be gone', 40, true, erased(1)],
] as const)('drawing again %s', (_, width, isResized, written) => {
  let columns = 40
  const reflow = createReflow(() => columns)
  expect(reflow.pass(FRAME)).toBe(FRAME)
  columns = width
  if (isResized) reflow.resized()
  expect(reflow.pass(AGAIN)).toBe(written)
  expect(reflow.pass(AGAIN)).toBe(isResized && width < 30 ? erased(2) : AGAIN)
})
