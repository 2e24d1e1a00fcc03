/** Families that write each key and each value in a tag: `<arg_key>k</arg_key><arg_value>v</arg_value>`. */
import { matchAt, tokenAt } from '../../text.ts'
import type { Block, Family } from '../family.ts'
import { readPairs, tagAt } from '../syntax/arg-pairs.ts'
import { blankEnd, blockOf, type CallRead, withDamage } from '../syntax/tags.ts'

const OPENER = '<tool_call>'
const OPENERS = [OPENER, '<iquestcoder_tool_call>']
/** Text after a name whose opening tag was lost. */
const AFTER_NAME = /[^\s<>\\]{1,128}(?:\s|\\[nrt])*(?:<arg_key|<tool_call>[^<>]{1,128}<\/arg_key)/y

/**
 * GLM 4.5, 4.7 and 5, poolside, and iQuest Coder with another tag name:
 * `<tool_call>name<arg_key>k</arg_key><arg_value>v</arg_value></tool_call>`.
 */
export const glm: Family = {
  id: 'glm',
  openers: [...OPENERS, '<arg_key>'],
  afterName: ['<arg_key>', '<tool_call>'],
  read(source, at) {
    const { text, tools } = source
    const opener = tokenAt(text, at, OPENERS)
    const from = at + opener.length
    const call = opener || matchAt(AFTER_NAME, text, at) ? readPairs(source, from) : undefined
    if (opener && call) return oneCall(call)
    if (!opener) return call && tools.resolve(call.call.name) && oneCall(call, 'the opening <tool_call> was missing')
    // A doubled opening tag is read once. More repetitions are not, so that a text of nothing but tags takes linear time.
    const again = blankEnd(text, from)
    return text.startsWith(OPENER, again) ? oneCall(readPairs(source, again + OPENER.length), 'an opening tag stood twice') : undefined
  },
}

const oneCall = (call: CallRead | undefined, damage?: string): Block | undefined =>
  call && blockOf([damage === undefined ? call : withDamage(call, damage)], call.end, call.closed)

/**
 * Hunyuan and HY: `<tool_calls><tool_call>name<tool_sep><arg_key>…</tool_call></tool_calls>`, also with `:opensource` in each tag; K2
 * Horizon with `ifm|`.
 */
export const hunyuan: Family = {
  id: 'hunyuan',
  openers: ['<tool_calls>', '<tool_calls:opensource>', '<tool_call:opensource>', '<ifm|tool_calls>', '<ifm|tool_call>'],
  read(source, at) {
    const { text } = source
    const first = tagAt(text, at)
    const isList = first?.name === 'tool_calls'
    const calls: CallRead[] = []
    for (let end = isList ? first.end : at; ; ) {
      const tag = tagAt(text, blankEnd(text, end))
      if (isList && calls.length > 0 && tag?.name === '/tool_calls') return blockOf(calls, tag.end, true)
      const call = tag?.name === 'tool_call' ? readPairs(source, tag.end) : undefined
      if (!call) return blockOf(calls, end, !isList && calls.every((one) => one.closed))
      calls.push(call)
      end = call.end
    }
  },
}
