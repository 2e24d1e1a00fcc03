/** GLM 4.5, 4.7 and 5, poolside, and with another name of the tag iQuest Coder: `<tool_call>name<arg_key>k</arg_key><arg_value>v</arg_value></tool_call>`. */
import type { Block, Family, Source } from '../family.ts'
import { readPairs } from '../syntax/arg-pairs.ts'
import { standing } from '../syntax/json-extent.ts'
import { blankEnd, blockOf, type CallRead, matchAt, withDamage } from '../syntax/tags.ts'

const OPENER = '<tool_call>'
const OPENERS = [OPENER, '<iquestcoder_tool_call>']
/** What follows a name that lost the tag before it. */
const AFTER_NAME = /[^\s<>\\]{1,128}(?:\s|\\[nrt])*(?:<arg_key|<tool_call>[^<>]{1,128}<\/arg_key)/y

export const glm: Family = {
  id: 'glm',
  precedence: 1,
  openers: [...OPENERS, '<arg_key>'],
  strong: true,
  afterName: ['<arg_key>', '<tool_call>'],
  read: (source, at) => {
    const opener = standing(source.text, at, OPENERS)
    if (opener) return read(source, at + opener.length)
    return matchAt(AFTER_NAME, source.text, at) ? readNamed(source, at) : undefined
  },
}

/** An opening tag that stands twice is read once; more of them are not, so that a text of nothing else takes linear time. */
function read(source: Source, at: number): Block | undefined {
  const call = readPairs(source, at)
  if (call) return blockOf([call], call.end, call.closed)
  const again = blankEnd(source.text, at)
  return source.text.startsWith(OPENER, again) ? marked(readPairs(source, again + OPENER.length), 'an opening tag stood twice') : undefined
}

/** The name of a known tool stands where the opening tag should be. */
function readNamed(source: Source, at: number): Block | undefined {
  const call = readPairs(source, at)
  return call && source.tools.resolve(call.call.name) && marked(call, 'the opening <tool_call> was missing')
}

function marked(call: CallRead | undefined, what: string): Block | undefined {
  return call && blockOf([withDamage(call, what)], call.end, call.closed)
}
