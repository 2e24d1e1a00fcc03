/** Gemma 4: `<|tool_call>call:f{k:<|"|>v<|"|>}<tool_call|>`; FunctionGemma: the same with other tokens. */
import type { Family } from '../family.ts'
import { BROKEN, GEMMA, readGemmaCall } from '../syntax/gemma-call.ts'

const DIALECTS = [
  GEMMA,
  { ...GEMMA, opener: BROKEN },
  { opener: '<start_function_call>', closer: '<end_function_call>', quote: '<escape>' },
]

export const gemma: Family = {
  id: 'gemma',
  openers: DIALECTS.map(({ opener }) => opener),
  read(source, at) {
    const tokens = DIALECTS.find(({ opener }) => source.text.startsWith(opener, at))
    return tokens && readGemmaCall(source, at, tokens)
  },
}
