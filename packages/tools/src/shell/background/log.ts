/** The output of a command that goes on: lines in the order they came, the last of them kept. */
import { plainText } from '../common/plain-text.ts'

export interface Lines {
  /** The number of the first one, from 0. */
  readonly from: number
  readonly lines: readonly string[]
  /** Lines after these. */
  readonly more: number
  /** Lines before these that are no longer kept. */
  readonly lost: number
}

export interface Log {
  readonly push: (text: string, stream: 'stdout' | 'stderr') => void
  /** What stands in unended lines becomes lines. */
  readonly end: () => void
  /** @param from a line's number; negative: so many from the end */
  readonly read: (from: number, limit: number) => Lines
  /** Lines that came so far. */
  readonly total: () => number
  /** A line that is not ended yet: a question, a progress bar. */
  readonly open: () => string
}

const MAX_CHARS = 500_000
const MAX_LINE = 50_000

export function createLog(maxChars = MAX_CHARS): Log {
  let kept: string[] = []
  let chars = 0
  let lost = 0
  const open = { stdout: '', stderr: '' }

  function add(line: string): void {
    const text = plainText(line)
    kept.push(text)
    chars += text.length + 1
    if (chars <= maxChars) return
    // In one go, since to shift an array line by line takes quadratic time.
    let drop = 0
    while (chars > maxChars * 0.8 && drop < kept.length - 1) chars -= (kept[drop++] as string).length + 1
    kept = kept.slice(drop)
    lost += drop
  }

  return {
    push: (text, stream) => {
      const parts = (open[stream] + text).split('\n')
      open[stream] = parts.pop() as string
      for (const part of parts) add(part.slice(-MAX_LINE))
      if (open[stream].length <= MAX_LINE) return
      add(open[stream])
      open[stream] = ''
    },
    end: () => {
      for (const stream of ['stdout', 'stderr'] as const) {
        if (open[stream] !== '') add(open[stream])
        open[stream] = ''
      }
    },
    read: (from, limit) => {
      const wanted = from < 0 ? Math.max(0, lost + kept.length + from) : from
      const first = Math.max(0, wanted - lost)
      const lines = kept.slice(first, first + limit)
      return { from: lost + first, lines, more: Math.max(0, kept.length - first - lines.length), lost: Math.max(0, lost - wanted) }
    },
    total: () => lost + kept.length,
    open: () => plainText(open.stderr === '' ? open.stdout : open.stderr),
  }
}
