/** Mistral, three dialects: `[TOOL_CALLS] [{…}]`, `[TOOL_CALLS]name{…}`, `[TOOL_CALLS]name[CALL_ID]id[ARGS]{…}`. */
import { matchAt, skip } from '../../text.ts'
import type { Block, Family, MarkupCall, Source } from '../family.ts'
import { readCalls, readNamed } from '../syntax/call-text.ts'
import { closedBlock } from '../syntax/closers.ts'

const OPENER = '[TOOL_CALLS]'
const ENDS = ['</s>', '[/TOOL_CALLS]']
const STOPS = [OPENER, ...ENDS]
const NOISE = ' \t\r\n}]'
const JSON_BEGINS = /^(?:\{|\[\s*[{\]])/
const HEAD = /\s*([\w.:/-]{1,128})\s*(?:\[CALL_ID\]\s*[^\s[{]{0,64}\s*)?(\[ARGS\])?\s*/y

export const mistral: Family = {
  id: 'mistral',
  openers: [OPENER],
  read(source, at) {
    const from = skip(source.text, at + OPENER.length)
    if (!JSON_BEGINS.test(source.text.slice(from, from + 50))) return readEach(source, at)
    const read = readCalls(source, from, STOPS)
    return closedBlock(source, read.calls, read, ENDS, NOISE)
  },
}

/** Reads calls with the name before the arguments, each after its own token or right after the previous call. */
function readEach(source: Source, at: number): Block | undefined {
  const { text, tools } = source
  const calls: MarkupCall[] = []
  let end = at
  for (;;) {
    const next = skip(text, end)
    const opened = text.startsWith(OPENER, next)
    const start = opened ? next + OPENER.length : end
    const [whole = '', name, args] = matchAt(HEAD, text, start) ?? []
    const from = start + whole.length
    const begins = args !== undefined || text[from] === '{' || (opened && from >= text.length)
    const read = name !== undefined && begins && (opened || tools.exact(name)) ? readNamed(source, { name }, from, STOPS) : undefined
    if (!read) return calls.length === 0 ? undefined : closedBlock(source, calls, { end, whole: true }, ENDS, NOISE)
    calls.push(read.call)
    if (!read.whole) return { calls, end: text.length, complete: false }
    end = read.end
  }
}
