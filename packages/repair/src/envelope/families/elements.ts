/** Families that write a call as an element that contains its parameters. */
import { past, skip } from '../../text.ts'
import type { Family, MarkupCall } from '../family.ts'
import { elementReader, type Spelling, spelled } from '../syntax/elements.ts'

/** Creates a family of elements that need no wrapper. */
const elements = (id: string, openers: readonly string[], spelling: Spelling): Family => ({
  id,
  openers,
  read: elementReader(spelling),
})

const INVOKE_PREFIXES = ['', 'antml:', 'atem:']
const INVOKE_WRAPPERS = ['minimax:tool_call', 'tool_call', 'tool_calls', 'dots_function_call']

/**
 * Claude's notation, and MiniMax M2 and dots with their own wrapper tags: `<function_calls><invoke name="f"><parameter
 * name="k">v</parameter></invoke></function_calls>`.
 */
export const invoke: Family = {
  .../* @__PURE__ */ elements(
    'invoke',
    [
      ...INVOKE_PREFIXES.flatMap((prefix) => [`<${prefix}function_calls>`, `<${prefix}invoke name=`]),
      ...INVOKE_WRAPPERS.map((name) => `<${name}>`),
    ],
    spelled('invoke', 'function_calls|tool_calls?|dots_function_call', '(?:[a-z]{1,16}:)?', { children: true }),
  ),
}

const DSML_PREFIXES = ['｜DSML｜', '|DSML|', '｜GCML｜', '|GCML|']

/** DeepSeek V3.2 and V4: `<｜DSML｜invoke name="f">` with full-width bars, or as servers alter them; GigaChat 3.5: `GCML`. */
export const dsml = /* @__PURE__ */ elements(
  'dsml',
  DSML_PREFIXES.flatMap((prefix) => [`<${prefix}function_calls>`, `<${prefix}tool_calls>`, `<${prefix}invoke`]),
  spelled('invoke', 'function_calls|tool_calls?', '[｜|]{1,2}(?:DSML|GCML)[｜|]{1,2}'),
)

const readQwen = /* @__PURE__ */ elementReader(spelled('function', 'tool_calls?', '(?:seed:)?', { lines: true }))
/** Seed-OSS writes values on the line of their tags. */
const readSeed = /* @__PURE__ */ elementReader(spelled('function', 'tool_calls?', '(?:seed:)?', { lines: 'both' }))

/**
 * Qwen3-Coder, Nemotron 3, Step 3.5, MiniCPM 5 and, with its own wrapper tag, Seed-OSS:
 * `<tool_call><function=f><parameter=k>v</parameter></function></tool_call>`.
 */
export const qwenCoder: Family = {
  id: 'qwen-coder',
  openers: ['<tool_call>', '<seed:tool_call>', '<function=', '<function name=', '<functionname=', '<functionĠname='],
  read: (source, at) => (source.text.startsWith('<seed:', at) ? readSeed(source, at) : readQwen(source, at)),
}

/** Some servers put spaces around text between tokens. */
const spaced = (name: string): string[] => [`<|open|>${name}`, `<|open|> ${name} `]
const KIMI_LABEL = /^\s+(?:[^<>]{0,100}\s)?(?:key|tool)="([^"<>]{1,128})"/

/** Kimi K3: `<|open|>call tool="f" index="1"<|sep|><|open|>argument key="k" type="string"<|sep|>v<|close|>argument<|sep|><|close|>call<|sep|>`. */
export const kimiK3 = /* @__PURE__ */ elements(
  'kimi-k3',
  [...spaced('tools').map((one) => `${one}<|sep|>`), '<|open|>call ', '<|open|> call '],
  {
    head: String.raw`<\|(?:open|(?<close>close))\|>\s*(?:(?<call>call)|(?<parameter>argument|json)|tools|message)`,
    tail: String.raw`(?<rest>(?:\s[^<>]{0,300})?)<\|sep\|>`,
    // A single object with all arguments has no key.
    label: (rest, element) =>
      element === 'json' ? 'arguments' : KIMI_LABEL.exec(rest)?.[1]?.replaceAll('&quot;', '"').replaceAll('&amp;', '&'),
    type: /\stype="(\w{1,16})"/,
    tokens: true,
  },
)

/** Solar Open 2: `<|tool_call:start|>f`, `<|tool_arg:start|>k<|tool_arg:value|>v<|tool_arg:end|>`, `<|tool_call:end|>`. */
export const solarOpen2 = /* @__PURE__ */ elements('solar-open2', ['<|tool_call:start|>'], {
  head: String.raw`<\|tool_(?:(?<call>call)|(?<parameter>arg)):(?:start|(?<close>end))\|>`,
  tail: String.raw`(?<rest>(?:(?<=start\|>)\s*[^\s<>|]{1,128}(?=\s|<\||$)(?:\s*<\|tool_arg:value\|>)?)?)`,
  label: (rest, element) => (rest.endsWith('>') === (element === 'arg') ? rest.trim().replace(/\s*<.*/, '') || undefined : undefined),
  type: /$^/,
  tokens: true,
})

const STEP3_OPENERS = ['<｜tool_calls_begin｜>', '<｜tool_call_begin｜>']
const STEP3_HEAD =
  /(?:<｜tool_calls_begin｜>\s*)?(?:<｜tool_sep｜>\s*)?<｜tool_call_begin｜>\s*(?:\w{1,32}<｜tool_sep｜>[^<\n]{0,128}\s*)?(?=<steptml:invoke\s)/y
const STEP3_ENDS = /(?:\s*<｜tool_calls?_end｜>){0,2}/y
const readStep3 = /* @__PURE__ */ elementReader(spelled('invoke', 'tool_calls?', 'steptml:', { bare: true }))

/** Step 3: `<steptml:invoke name="f"><steptml:parameter name="k">v</steptml:parameter></steptml:invoke>` between the tokens of DeepSeek. */
export const step3: Family = {
  id: 'step3',
  openers: [...STEP3_OPENERS, '<steptml:invoke '],
  read(source, at) {
    const { text } = source
    if (!STEP3_OPENERS.some((opener) => text.startsWith(opener, at))) return readStep3(source, at)
    const calls: MarkupCall[] = []
    let end = at
    for (let complete = true; complete; ) {
      const next = skip(text, end)
      const head = past(STEP3_HEAD, text, next)
      const block = head > next ? readStep3(source, head) : undefined
      if (!block) return calls.length === 0 ? undefined : { calls, end, complete }
      calls.push(...block.calls)
      complete = block.complete
      end = past(STEP3_ENDS, text, block.end)
    }
    return { calls, end, complete: false }
  },
}
