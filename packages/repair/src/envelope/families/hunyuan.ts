/** Hunyuan and HY: `<tool_calls><tool_call>name<tool_sep><arg_key>…</tool_call></tool_calls>`, also with `:opensource` in each tag; K2 Horizon: with `ifm|`. */
import type { Family } from '../family.ts'
import { readPairs } from '../syntax/arg-pairs.ts'
import { blankEnd, blockOf, type CallRead, matchAt } from '../syntax/tags.ts'

const LIST = /<(?:ifm\|)?tool_calls(?::[\w-]{1,32})?>/y
const LIST_END = /<\/(?:ifm\|)?tool_calls(?::[\w-]{1,32})?>/y
const CALL = /<(?:ifm\|)?tool_call(?::[\w-]{1,32})?>/y

export const hunyuan: Family = {
  id: 'hunyuan',
  precedence: 3,
  openers: ['<tool_calls>', '<tool_calls:opensource>', '<tool_call:opensource>', '<ifm|tool_calls>', '<ifm|tool_call>'],
  strong: true,
  read: (source, at) => {
    const { text } = source
    const list = matchAt(LIST, text, at)
    const calls: CallRead[] = []
    let end = at + (list?.[0].length ?? 0)
    for (;;) {
      const next = blankEnd(text, end)
      const closing = list && calls.length > 0 ? matchAt(LIST_END, text, next) : undefined
      if (closing) return blockOf(calls, next + closing[0].length, true)
      const opening = matchAt(CALL, text, next)
      const call = opening && readPairs(source, next + opening[0].length)
      if (!call) return blockOf(calls, end, !list && calls.every((one) => one.closed))
      calls.push(call)
      end = call.end
    }
  },
}
