import { ToolFailure } from '@mulligan/core'
import { codeOf } from './tree.ts'

const WHY: Readonly<Record<string, string>> = {
  ENOSPC: 'no space is left',
  EDQUOT: 'no space is left',
  EACCES: 'it may not be written',
  EPERM: 'it may not be written',
  EROFS: 'it is read-only',
}

/** The change could not be written down first, so it was not made. */
export function notRecorded(cause: unknown): ToolFailure {
  const code = codeOf(cause)
  return new ToolFailure(
    `The change was not made, because it can't be recorded for undo: where changes are kept, ${WHY[code ?? ''] ?? `something failed (${code ?? 'no code'})`}.`,
    { cause, constraint: 'a data folder with space, which can be written' },
  )
}
