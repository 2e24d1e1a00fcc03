/** Kimi K3: `<|open|>call tool="f" index="1"<|sep|><|open|>argument key="k" type="string"<|sep|>v<|close|>argument<|sep|><|close|>call<|sep|>`. */
import type { Family } from '../family.ts'
import { type PairGrammar, readTokenPairs } from '../syntax/token-pairs.ts'

/** Some servers put spaces around what stands between tokens. */
const spaced = (token: string, name: string): string[] => [`<|${token}|>${name}<|sep|>`, `<|${token}|> ${name} <|sep|>`]

const GRAMMAR: PairGrammar = {
  begin: /<\|open\|>\s*tools\s*<\|sep\|>/y,
  end: /(?:\s*<\|close\|>\s*(?:tools|message)\s*<\|sep\|>)+/y,
  call: /<\|open\|>\s*call\s[^<>]{0,100}?\btool="([^"<>]{1,128})"[^<>]{0,100}<\|sep\|>/y,
  callEnd: /<\|close\|>\s*call\s*<\|sep\|>/y,
  parameter: /<\|open\|>\s*argument\s+key="([^"<>]{1,128})"(?:\s+type="(\w{1,16})")?\s*<\|sep\|>/y,
  valueEnds: [...spaced('close', 'argument'), ...spaced('close', 'json')],
  stops: [...spaced('close', 'call'), ...spaced('close', 'tools')],
  whole: /<\|open\|>\s*json(?:\s[^<>]{0,64})?<\|sep\|>/y,
  unescape: (text) => text.replaceAll('&quot;', '"').replaceAll('&amp;', '&'),
}

export const kimiK3: Family = {
  id: 'kimi-k3',
  openers: [...spaced('open', 'tools'), '<|open|>call ', '<|open|> call '],
  strong: true,
  read: (source, at) => readTokenPairs(source, at, GRAMMAR),
}
