/** Canonical calls of each family, from which rows and decoys are built. Variants are named after their family. */

export interface Written {
  readonly name: string
  readonly arguments: Readonly<Record<string, string | number | boolean>>
}

type Writer = (calls: readonly Written[]) => string

const json = (value: unknown): string => JSON.stringify(value)
const pairs = ({ arguments: given }: Written): readonly (readonly [string, string | number | boolean])[] => Object.entries(given)
const each =
  (write: (call: Written, at: number) => string, between = ''): Writer =>
  (calls) =>
    calls.map(write).join(between)
const object = ({ name, arguments: given }: Written): string => json({ name, arguments: given })
const parameters = ({ name, arguments: given }: Written): string => json({ name, parameters: given })
const list = (calls: readonly Written[]): string => `[${calls.map(object).join(', ')}]`
const literal = (value: string | number | boolean): string => (value === true ? 'True' : value === false ? 'False' : json(value))
const python = (call: Written): string =>
  `${call.name}(${pairs(call)
    .map(([key, value]) => `${key}=${literal(value)}`)
    .join(', ')})`
const pythonList = (calls: readonly Written[]): string => `[${calls.map(python).join(', ')}]`
const argPairs = (call: Written): string =>
  pairs(call)
    .map(([key, value]) => `<arg_key>${key}</arg_key>\n<arg_value>${value}</arg_value>\n`)
    .join('')
const invoke = (call: Written, prefix = ''): string => {
  const inside = pairs(call).map(([key, value]) => `<${prefix}parameter name="${key}">${value}</${prefix}parameter>\n`)
  return `<${prefix}invoke name="${call.name}">\n${inside.join('')}</${prefix}invoke>\n`
}
const gemmaValue = (value: string | number | boolean): string => (typeof value === 'string' ? `<|"|>${value}<|"|>` : String(value))

const elements = (call: Written): string => {
  const inside = pairs(call).map(([key, value]) => `<steptml:parameter name="${key}">${value}</steptml:parameter>`)
  return `<steptml:invoke name="${call.name}">${inside.join('')}</steptml:invoke>`
}
const xtml = (call: Written, at: number): string => {
  const inside = pairs(call).map(
    ([key, value]) => `<|open|>argument key="${key}" type="${typeof value}"<|sep|>${value}<|close|>argument<|sep|>`,
  )
  return `<|open|>call tool="${call.name}" index="${at + 1}"<|sep|>${inside.join('')}<|close|>call<|sep|>`
}
const plamo = (tag: string, inside: string): string => `<|plamo:begin_${tag}:plamo|>${inside}<|plamo:end_${tag}:plamo|>`

/** Returns the family of a writer. */
export const familyOf = (writer: string): string => writer.replace(/:.*/, '')

export const WRITERS: Readonly<Record<string, Writer>> = {
  hunyuan: (calls) =>
    `<tool_calls>\n${each((call) => `<tool_call>${call.name}<tool_sep>\n${argPairs(call)}</tool_call>\n`)(calls)}</tool_calls>`,
  'qwen-coder': each((call) => {
    const inside = pairs(call).map(([key, value]) => `<parameter=${key}>\n${value}\n</parameter>\n`)
    return `<tool_call>\n<function=${call.name}>\n${inside.join('')}</function>\n</tool_call>`
  }, '\n'),
  invoke: (calls) => `<function_calls>\n${each((call) => invoke(call))(calls)}</function_calls>`,
  dsml: (calls) => `<｜DSML｜function_calls>\n${each((call) => invoke(call, '｜DSML｜'))(calls)}</｜DSML｜function_calls>`,
  glm: each((call) => `<tool_call>${call.name}\n${argPairs(call)}</tool_call>`, '\n'),
  nemotron: (calls) => `<TOOLCALL>${list(calls)}</TOOLCALL>`,
  olmo: (calls) => `<function_calls>\n${calls.map(python).join('\n')}\n</function_calls>`,
  gemma: each((call) => {
    const inside = pairs(call).map(([key, value]) => `${key}:${gemmaValue(value)}`)
    return `<|tool_call>call:${call.name}{${inside.join(',')}}<tool_call|>`
  }),
  longcat: each((call) => `<longcat_tool_call>${object(call)}</longcat_tool_call>`, '\n'),
  'tool-calls': (calls) => `<tool_calls>\n${calls.map(object).join('\n')}\n</tool_calls>`,
  step3: (calls) =>
    `<｜tool_calls_begin｜>${each((call) => `<｜tool_call_begin｜>${elements(call)}<｜tool_call_end｜>`, '<｜tool_sep｜>')(calls)}<｜tool_calls_end｜>`,
  'minimax-m3': (calls) => {
    const inside = (call: Written): string =>
      pairs(call)
        .map(([key, value]) => `<${key}>${value}</${key}>`)
        .join('')
    const written = each((call) => `<invoke name="${call.name}">${inside(call)}</invoke>\n`)(calls)
    return `<tool_call>\n${written}</tool_call>`.replaceAll(/<(?=\/?[a-z])/g, ']<]minimax[>[<')
  },
  'kimi-k3': (calls) => `<|open|>tools<|sep|>${each(xtml)(calls)}<|close|>tools<|sep|>`,
  'solar-open2': each((call) => {
    const inside = pairs(call).map(([key, value]) => `<|tool_arg:start|>${key}<|tool_arg:value|>${value}<|tool_arg:end|>\n`)
    return `<|tool_call:start|>${call.name}\n${inside.join('')}<|tool_call:end|>`
  }, '\n'),
  plamo: (calls) =>
    plamo(
      'tool_requests',
      each((call) => plamo('tool_request', plamo('tool_name', call.name) + plamo('tool_arguments', json(call.arguments))))(calls),
    ),
  hyperclova: (calls) => `-> tool/function_call\n${list(calls)}<|im_end|>`,
  'k2-horizon': (calls) =>
    `<ifm|tool_calls>${each((call) => `<ifm|tool_call>${object(call)}</ifm|tool_call>`, '\n')(calls)}</ifm|tool_calls>`,
  rwkv: each((call) => `**Tool Call:**\n\`\`\`json\n${object(call)}\n\`\`\``, '\n'),
  apertus: (calls) => `<|tools_prefix|>${json(calls.map(({ name, arguments: given }) => ({ [name]: given })))}<|tools_suffix|>`,
  llama4: (calls) => `<|python_start|>${pythonList(calls)}<|python_end|>`,
  deepseek: (calls) =>
    `<｜tool▁calls▁begin｜>${each((call) => `<｜tool▁call▁begin｜>${call.name}<｜tool▁sep｜>${json(call.arguments)}<｜tool▁call▁end｜>`)(calls)}<｜tool▁calls▁end｜>`,
  kimi: (calls) =>
    `<|tool_calls_section_begin|>${each((call, at) => `<|tool_call_begin|>functions.${call.name}:${at}<|tool_call_argument_begin|>${json(call.arguments)}<|tool_call_end|>`)(calls)}<|tool_calls_section_end|>`,
  solar: (calls) =>
    `<|tool_calls|>${each((call, at) => `<|tool_call:begin|>c${at}<|tool_call:name|>${call.name}<|tool_call:args|>${json(call.arguments)}<|tool_call:end|>`)(calls)}<|calls|>`,
  hermes: each((call) => `<tool_call>\n${object(call)}\n</tool_call>`, '\n'),
  llama3: (calls) => `<|python_tag|>${calls.map(parameters).join('; ')}<|eom_id|>`,
  'tool-code': (calls) => `\`\`\`tool_code\n${calls.map(python).join('\n')}\n\`\`\``,
  harmony: each(
    (call) =>
      `<|start|>assistant<|channel|>commentary to=functions.${call.name} <|constrain|>json<|message|>${json(call.arguments)}<|call|>`,
  ),
  granite: (calls) => `<|tool_call|>${list(calls)}`,
  gigachat: each((call) => `<|function_call|>${object(call)}`, '\n'),
  internlm2: each((call) => `<|action_start|><|plugin|>${parameters(call)}<|action_end|>`, '\n'),
  'llama-function': each((call) => `<function=${call.name}>${json(call.arguments)}</function>`, '\n'),
  'functionary-v3': each((call) => `>>>${call.name}\n${json(call.arguments)}`, '\n'),
  mistral: (calls) => `[TOOL_CALLS] ${list(calls)}`,
  lfm2: (calls) => `<|tool_call_start|>${pythonList(calls)}<|tool_call_end|>`,
  pangu: (calls) => `[unused11]${list(calls)}[unused12]`,
  functools: (calls) => `functools${list(calls)}`,
  cohere: (calls) =>
    `<|START_ACTION|>${json(calls.map(({ name, arguments: given }, at) => ({ tool_call_id: String(at), tool_name: name, parameters: given })))}<|END_ACTION|>`,
  'command-r': (calls) =>
    `Action: \`\`\`json\n${json(calls.map(({ name, arguments: given }) => ({ tool_name: name, parameters: given })))}\n\`\`\``,
  'pythonic-tags': each((call) => `<tool_call>${python(call)}</tool_call>`, '\n'),
  'bare: a list': pythonList,
  'bare: under its name': each((call) => `${call.name}\n${json(call.arguments)}`, '\n'),
  'bare: JSON': each(parameters, '; '),
}
