/** Fits the results of one step into a token budget: short ones stay whole, long ones keep their head and tail. */
import { headAndTail } from '@mulligan/core/executor'
import type { Output } from '../history/projection.ts'
import { estimateText } from './estimate.ts'

interface Sized {
  readonly output: Output
  /** Whether repeating the call would only read. */
  readonly readable: boolean
}

/** Tokens of the engine's note. */
const NOTE = 45
/** Minimum tokens per result; less would not be useful. */
const MIN_TOKENS = 20

/** Truncates the outputs to `budget` tokens. The same results and budget give the same text in any process. */
export function truncateStep(results: readonly Sized[], budget: number): readonly Output[] {
  const sizes = results.map(({ output }) => estimateText(textOf(output)))
  const sum = sizes.reduce((a, b) => a + b, 0)
  if (sum <= budget) return results.map(({ output }) => output)
  const most = equalLimit(sizes, budget)
  return results.map(({ output, readable }, at) => {
    const size = sizes[at] as number
    return size <= most ? output : truncated(output, size, most, readable)
  })
}

/** Returns the largest limit with which all sizes, cut to it, add up to the budget. */
function equalLimit(sizes: readonly number[], budget: number): number {
  let left = budget
  for (const [at, size] of [...sizes].sort((a, b) => a - b).entries()) {
    const share = left / (sizes.length - at)
    if (size > share) return Math.floor(share)
    left -= size
  }
  return Number.POSITIVE_INFINITY
}

function truncated(output: Output, size: number, most: number, readable: boolean): Output {
  const text = textOf(output)
  const room = Math.max(MIN_TOKENS, most - NOTE)
  let characters = Math.floor((text.length * room) / size)
  let cut = headAndTail(text, characters)
  // The head and tail may have more tokens per character than the whole.
  while (characters > 40 && estimateText(cut.text) > room) {
    characters = Math.floor(characters * 0.8)
    cut = headAndTail(text, characters)
  }
  const again = readable ? ' To read the rest, call again for this alone, or for a part of it.' : ''
  const value = `[${text.length} characters in all, ${cut.shown} shown: the results of this step are too long together.${again}]\n${cut.text}`
  return output.type === 'error-text' ? { type: 'error-text', value } : { type: 'text', value }
}

/** Returns the text of an output; media are only named. */
function textOf(output: Output): string {
  if (output.type === 'content')
    return output.value.map((part) => (part.type === 'text' ? part.text : part.type === 'file' ? `[${part.mediaType}]` : '')).join('\n')
  return 'value' in output ? String(output.value) : ''
}
