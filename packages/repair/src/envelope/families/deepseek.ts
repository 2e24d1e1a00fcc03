/**
 * DeepSeek with tokens. V3 and R1: `function<｜tool▁sep｜>name` and a fence; V3.1: `name<｜tool▁sep｜>{…}`. Tokens that went through
 * another tokenizer come with ASCII bars, underscores or spaces.
 */
import type { Family } from '../family.ts'
import { standing } from '../syntax/json-extent.ts'
import { readTokenCalls, type TokenGrammar, type TokenHeader } from '../syntax/token-calls.ts'

const NAME = /\s*(?:function\s*(?=\S))?([\w.:/-]{1,128})[ \t]*(?=\r?\n|```|\{|$)/y

function dialect(bar: string, gap: string): TokenGrammar {
  const token = (name: string): string => `<${bar}${name.replaceAll(' ', gap)}${bar}>`
  const separator = token('tool sep')
  return {
    begin: [token('tool calls begin')],
    call: token('tool call begin'),
    callEnd: [token('tool call end')],
    end: [token('tool calls end'), token('end of sentence')],
    header: (text, at) => headerAt(text, at, separator),
  }
}

function headerAt(text: string, at: number, separator: string): TokenHeader | undefined {
  const near = text.slice(at, at + 300)
  const mark = near.indexOf(separator)
  const before = near.slice(0, Math.max(mark, 0)).trim()
  if (mark === -1 || /[\n{]/.test(before)) return nameAt(text, at, 'the separator before the arguments was missing')
  const after = at + mark + separator.length
  if (
    before !== '' &&
    (before !== 'function' ||
      text
        .slice(after, after + 16)
        .trimStart()
        .startsWith('{'))
  )
    return { name: before, end: after }
  return nameAt(text, after)
}

function nameAt(text: string, at: number, damage?: string): TokenHeader | undefined {
  NAME.lastIndex = at
  const name = NAME.exec(text)?.[1]
  if (name === undefined || (damage !== undefined && NAME.lastIndex === text.length)) return undefined
  return { name, end: NAME.lastIndex, ...(damage !== undefined && { damage }) }
}

const DIALECTS = ['｜', '|'].flatMap((bar) => ['▁', '_', ' '].map((gap) => dialect(bar, gap)))

export const deepseek: Family = {
  id: 'deepseek',
  openers: DIALECTS.flatMap(({ begin, call }) => [...begin, call]),
  strong: true,
  read(source, at) {
    const grammar = DIALECTS.find(({ begin, call }) => standing(source.text, at, [...begin, call]) !== '')
    return grammar && readTokenCalls(source, at, grammar)
  },
}
