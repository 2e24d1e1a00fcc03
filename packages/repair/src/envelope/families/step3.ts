/** Step 3: `<steptml:invoke name="f"><steptml:parameter name="k">v</steptml:parameter></steptml:invoke>` between the tokens of DeepSeek. */
import type { Block, Family, MarkupCall, Source } from '../family.ts'
import { elementReader } from '../syntax/elements.ts'
import { skip } from '../syntax/json-extent.ts'
import { matchAt } from '../syntax/tags.ts'

const OPENERS = ['<｜tool_calls_begin｜>', '<｜tool_call_begin｜>']
const HEAD =
  /(?:<｜tool_calls_begin｜>\s*)?(?:<｜tool_sep｜>\s*)?<｜tool_call_begin｜>\s*(?:\w{1,32}<｜tool_sep｜>[^<\n]{0,128}\s*)?(?=<steptml:invoke\s)/y
const CALL_END = /\s*<｜tool_call_end｜>/y
const END = /\s*<｜tool_calls_end｜>/y

const element = elementReader({
  call: 'invoke',
  wrappers: 'tool_calls?',
  prefix: 'steptml:',
  lines: false,
  children: false,
  bare: true,
})

export const step3: Family = {
  id: 'step3',
  precedence: 1,
  openers: [...OPENERS, '<steptml:invoke '],
  strong: true,
  read: (source, at) => (OPENERS.some((opener) => source.text.startsWith(opener, at)) ? readList(source, at) : element(source, at)),
}

function readList(source: Source, at: number): Block | undefined {
  const { text } = source
  const calls: MarkupCall[] = []
  let end = at
  let complete = true
  for (;;) {
    const next = skip(text, end)
    const head = matchAt(HEAD, text, next)
    const block = head && element(source, next + head[0].length)
    if (!block) break
    calls.push(...block.calls)
    complete = block.complete
    end = block.end + (matchAt(CALL_END, text, block.end)?.[0].length ?? 0)
    if (!complete) break
  }
  if (calls.length === 0) return undefined
  return { calls, end: end + (matchAt(END, text, end)?.[0].length ?? 0), complete }
}
