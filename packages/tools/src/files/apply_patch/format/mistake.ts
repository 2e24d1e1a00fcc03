import { ModelRetry } from '@mulligan/core'
import type { Line } from './patch.ts'

const SHOWN_CHARS = 200

export const cut = (text: string): string => (text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text)

/** A part of the patch that can't be taken, and how it is written. */
export const mistake = ({ text, number }: Line, says: string, constraint: string, more: Record<string, unknown> = {}): ModelRetry =>
  new ModelRetry(`Line ${number} of the patch: ${says} Nothing was written.`, {
    parameter: 'patch',
    value: cut(text),
    constraint,
    line: number,
    ...more,
  })
