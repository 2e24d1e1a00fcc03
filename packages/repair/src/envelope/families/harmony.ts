/**
 * gpt-oss: `<|channel|>commentary to=functions.name <|constrain|>json<|message|>{…}<|call|>`, with the recipient in the role or in the
 * channel, and the remains when a server strips the tokens: `commentary to=functions.name json{…}`.
 */
import { matchAt } from '../../text.ts'
import type { Family } from '../family.ts'
import { readNamed } from '../syntax/call-text.ts'
import { closedBlock } from '../syntax/closers.ts'

const ENDS = ['<|call|>', '<|end|>', '<|return|>']
const STOPS = [...ENDS, '<|start|>', '<|channel|>']
const WORDS = String.raw`<\|start\|>|<\|channel\|>|<\|constrain\|>|<\|recipient\|>|assistant|commentary|analysis|final|json|code|\s`
const HEAD = new RegExp(String.raw`((?:${WORDS}){0,40})to=(functions\.)?([\w.:/-]{1,128})((?:${WORDS}){0,40})(<\|message\|>)?\s*`, 'y')
/** Text after a stripped token that has run into the name. */
const STUCK = /(?:commentary|analysis|json|code)+$/
const NOBODY = new Set(['assistant', 'user', 'system', 'developer', 'all', 'functions', 'functions.'])

export const harmony: Family = {
  id: 'harmony',
  openers: [
    ...['<|start|>assistant', '<|channel|>', 'assistantcommentary to=functions.', 'assistantanalysis to=functions.'],
    ...['commentary to=functions.', 'analysis to=functions.', 'to=functions.'],
  ],
  read(source, at) {
    const { text, tools } = source
    const head = matchAt(HEAD, text, at)
    if (!head) return undefined
    const [whole, before = '', functions, written = '', after = '', message] = head
    const name = tools.resolve(written) ? written : written.replace(STUCK, '')
    const tokens = before.includes('<|') || after.includes('<|') || message !== undefined
    if (NOBODY.has(name) || (functions === undefined && !tokens)) return undefined
    const from = at + whole.length
    const read = readNamed(source, { name }, from, STOPS, message !== undefined)
    if (!tokens && (!tools.resolve(name) || (text[from] !== '{' && read?.whole !== false))) return undefined
    return read && closedBlock(source, [read.call], read, ENDS, ' \t\r\n}')
  },
}
