import { expect, it } from 'vitest'
import { createReflow } from './reflow.ts'

const UP = '\x1b[2K\x1b[1A'
/** Three rows and an empty one, with the cursor on the second. */
const FRAME = `${'x'.repeat(30)}\n> y\nstatus\n\x1b[2A\x1b[4G\x1b[?25h`
/** As the renderer draws it again: down to the last row, and up to the first. */
const AGAIN = `\x1b[?25l\x1b[2B\x1b[1G${UP.repeat(3)}\x1b[2K\x1b[G${FRAME}`
const erased = (rows: number): string => `\x1b[?25l${rows > 0 ? `\x1b[${rows}A` : ''}\x1b[G\x1b[2K\x1b[C\x1b[J\x1b[G${FRAME}`

it.each([
  ['leaves it as it is without a resize', 40, 10, AGAIN],
  ['erases what a wider terminal has, too', 60, 10, AGAIN],
  ['counts the rows of lines that are wrapped now', 20, 10, erased(2)],
  ['begins at the cursor if the rows below it may be gone', 40, 9, erased(1)],
] as const)('drawing again %s', (_, columns, rows, written) => {
  let size = { columns: 40, rows: 10 }
  const reflow = createReflow(() => size)
  expect(reflow(FRAME)).toBe(FRAME)
  size = { columns, rows }
  expect(reflow(AGAIN)).toBe(written)
})
