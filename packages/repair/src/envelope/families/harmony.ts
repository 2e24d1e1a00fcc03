/**
 * gpt-oss: `<|channel|>commentary to=functions.name <|constrain|>json<|message|>{…}<|call|>`, with the recipient in the role or in the
 * channel, and what is left when a server strips the tokens: `commentary to=functions.name json{…}`.
 */
import type { Block, Family, Source } from '../family.ts'
import { readArguments } from '../syntax/call-text.ts'
import { afterCloser, nearest, skip } from '../syntax/json-extent.ts'

const ENDS = ['<|call|>', '<|end|>', '<|return|>']
const STOPS = [...ENDS, '<|start|>', '<|channel|>']
const WORDS = String.raw`<\|start\|>|<\|channel\|>|<\|constrain\|>|<\|recipient\|>|assistant|commentary|analysis|final|json|code|\s`
const HEAD = new RegExp(String.raw`((?:${WORDS}){0,40})to=(functions\.)?([\w.:/-]{1,128})((?:${WORDS}){0,40})(<\|message\|>)?\s*`, 'y')
/** What stood behind a token that was stripped, run together with the name. */
const STUCK = /(?:commentary|analysis|json|code)+$/
const NOBODY = new Set(['assistant', 'user', 'system', 'developer', 'all', 'functions', 'functions.'])

export const harmony: Family = {
  id: 'harmony',
  openers: [
    '<|start|>assistant',
    '<|channel|>',
    'assistantcommentary to=functions.',
    'assistantanalysis to=functions.',
    'commentary to=functions.',
    'analysis to=functions.',
    ' to=functions.',
    'to=functions.',
  ],
  strong: true,
  read(source, at) {
    HEAD.lastIndex = at
    const head = HEAD.exec(source.text)
    if (!head) return undefined
    const [whole, before = '', functions, written = '', after = '', message] = head
    const name = source.tools.resolve(written) ? written : written.replace(STUCK, '')
    const tokens = before.includes('<|') || after.includes('<|') || message !== undefined
    if (NOBODY.has(name) || (functions === undefined && !tokens)) return undefined
    return readBody(source, at + whole.length, name, tokens, message !== undefined)
  },
}

function readBody(source: Source, at: number, name: string, tokens: boolean, message: boolean): Block | undefined {
  const { text } = source
  const read = readArguments(source, at, STOPS)
  if (!tokens && (!source.tools.resolve(name) || (text[at] !== '{' && !read?.cut))) return undefined
  if (read) {
    const call = { name, arguments: read.arguments, ...(read.cut && { cutOff: true as const }) }
    if (read.cut) return { calls: [call], end: text.length, complete: false }
    const next = skip(text, read.end, ' \t\r\n}')
    const closed = afterCloser(text, next, ENDS)
    return { calls: [call], end: closed > next ? closed : read.end, complete: true }
  }
  if (!message) return undefined
  const stop = nearest(source, STOPS, at)
  const end = stop === -1 ? text.length : stop
  const call = { name, arguments: { kind: 'json', text: text.slice(at, end).trim() } } as const
  return stop === -1
    ? { calls: [{ ...call, cutOff: true }], end, complete: false }
    : { calls: [call], end: afterCloser(text, end, ENDS), complete: true }
}
