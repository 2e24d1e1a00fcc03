/** Selects the end of an unfinished answer that fits the screen; earlier lines appear when it is finished. Pure. */
import { sanitize } from '@mulligan/host/light'

/** @param rows lines of the screen that it may take */
export function tailText(open: string, rows: number, columns: number): string {
  // More than fits need not be looked at.
  const near = open.slice(-rows * columns)
  const lines = sanitize(near).split('\n')
  let first = lines.length
  for (let room = rows; first > 0; first--) {
    room -= Math.max(1, Math.ceil((lines[first - 1] as string).length / columns))
    if (room < 0) break
  }
  const isWhole = first === 0 && near.length === open.length
  const tail = lines.slice(Math.min(first, lines.length - 1)).join('\n')
  const fence = /^ {0,3}(?:`{3,}|~{3,})[^\n]*\n/.exec(open)?.[0] ?? ''
  return isWhole ? tail : sanitize(fence) + tail
}
