/** Mistral, three dialects: `[TOOL_CALLS] [{…}]`, `[TOOL_CALLS]name{…}`, `[TOOL_CALLS]name[CALL_ID]id[ARGS]{…}`. */
import type { Block, Family, MarkupCall, Source } from '../family.ts'
import { readArguments, readCalls } from '../syntax/call-text.ts'
import { afterCloser, skip } from '../syntax/json-extent.ts'

const OPENER = '[TOOL_CALLS]'
const STOPS = [OPENER, '</s>', '[/TOOL_CALLS]']
const ENDS = ['</s>', '[/TOOL_CALLS]']
const JSON_BEGINS = /^(?:\{|\[\s*[{\]])/
const HEAD = /\s*([\w.:/-]{1,128})\s*(?:\[CALL_ID\]\s*[^\s[{]{0,64}\s*)?(\[ARGS\])?\s*/y

export const mistral: Family = {
  id: 'mistral',
  openers: [OPENER],
  strong: true,
  read(source, at) {
    const { text } = source
    const from = skip(text, at + OPENER.length)
    if (!JSON_BEGINS.test(text.slice(from, from + 50))) return readNamed(source, at)
    const { calls, end, whole } = readCalls(source, from, STOPS)
    return whole ? finish(text, calls, end) : { calls, end, complete: false }
  },
}

/** Each call with its name before its arguments: after a token of its own, or right after the one before. */
function readNamed(source: Source, at: number): Block | undefined {
  const { text, tools } = source
  const calls: MarkupCall[] = []
  let end = at
  for (;;) {
    const next = skip(text, end)
    const opened = text.startsWith(OPENER, next)
    HEAD.lastIndex = opened ? next + OPENER.length : end
    const head = HEAD.exec(text)
    const name = head?.[1]
    const from = HEAD.lastIndex
    const cutHere = opened && from >= text.length
    if (name === undefined || !(head?.[2] !== undefined || text[from] === '{' || cutHere)) break
    if (!opened && !tools.exact(name)) break
    const read = readArguments(source, from, STOPS)
    if (!read) break
    calls.push({ name, arguments: read.arguments, ...(read.cut && { cutOff: true }) })
    if (read.cut) return { calls, end: text.length, complete: false }
    end = read.end
  }
  return calls.length === 0 ? undefined : finish(text, calls, end)
}

function finish(text: string, calls: readonly MarkupCall[], end: number): Block {
  const next = skip(text, end, ' \t\r\n}]')
  const closed = afterCloser(text, next, ENDS)
  return { calls, end: closed > next ? closed : end, complete: true }
}
