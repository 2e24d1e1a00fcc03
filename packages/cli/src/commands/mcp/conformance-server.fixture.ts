/** The server that the protocol's conformance suite asks for, on stdin and stdout, with no library between the suite and the proxy. */
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

type Json = Readonly<Record<string, unknown>>
interface Message {
  readonly id?: number | string
  readonly method?: string
  readonly params?: Json
  readonly result?: Json
}

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA='
const text = (value: string): Json => ({ type: 'text', text: value })
const image = { type: 'image', data: PNG, mimeType: 'image/png' }
const resource = (uri: string, mimeType: string, value: string): Json => ({ type: 'resource', resource: { uri, mimeType, text: value } })
const says = (...content: readonly Json[]): Json => ({ content })

const write = (message: Json): void => void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const notify = (method: string, params: Json): void => write({ method, params })

const asked = new Map<number | string, (result: Json) => void>()
let questions = 0
function ask(method: string, params: Json): Promise<Json> {
  const id = `ask-${++questions}`
  write({ id, method, params })
  return new Promise((resolve) => asked.set(id, resolve))
}
const elicit = async (message: string, properties: Json, required: readonly string[], intro: string): Promise<Json> => {
  const { action, content } = await ask('elicitation/create', { message, requestedSchema: { type: 'object', properties, required } })
  return says(text(`${intro}: action=${String(action)}, content=${JSON.stringify(content ?? {})}`))
}

const choices = ['option1', 'option2', 'option3']
const titled = ['First', 'Second', 'Third'].map((title, at) => ({ const: `value${at + 1}`, title: `${title} Option` }))

const TOOLS: Readonly<Record<string, (args: Json, meta: Json) => Json | Promise<Json>>> = {
  test_simple_text: () => says(text('This is a simple text response for testing.')),
  test_image_content: () => says(image),
  test_audio_content: () => says({ type: 'audio', data: WAV, mimeType: 'audio/wav' }),
  test_embedded_resource: () => says(resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')),
  test_multiple_content_types: () =>
    says(
      text('Multiple content types test:'),
      image,
      resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ),
  async test_tool_with_logging() {
    for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      notify('notifications/message', { level: 'info', logger: 'test', data })
      await sleep(50)
    }
    return says(text('Tool execution completed'))
  },
  test_error_handling: () => ({ ...says(text('This tool intentionally returns an error for testing')), isError: true }),
  async test_tool_with_progress(_, { progressToken }) {
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined) notify('notifications/progress', { progressToken, progress, total: 100 })
      await sleep(50)
    }
    return says(text('done'))
  },
  async test_sampling({ prompt }) {
    const messages = [{ role: 'user', content: text(String(prompt)) }]
    const { content } = await ask('sampling/createMessage', { messages, maxTokens: 100 })
    return says(text(`LLM response: ${String((content as Json | undefined)?.['text'])}`))
  },
  test_elicitation: ({ message }) =>
    elicit(
      String(message),
      { username: { type: 'string', description: "User's response" }, email: { type: 'string', description: "User's email address" } },
      ['username', 'email'],
      'User response',
    ),
  test_elicitation_sep1034_defaults: () =>
    elicit(
      'Please review',
      {
        name: { type: 'string', default: 'John Doe' },
        age: { type: 'integer', default: 30 },
        score: { type: 'number', default: 95.5 },
        status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
        verified: { type: 'boolean', default: true },
      },
      [],
      'Elicitation completed',
    ),
  test_elicitation_sep1330_enums: () =>
    elicit(
      'Please choose',
      {
        untitledSingle: { type: 'string', enum: choices },
        titledSingle: { type: 'string', oneOf: titled },
        legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Option Two', 'Option Three'] },
        untitledMulti: { type: 'array', items: { type: 'string', enum: choices } },
        titledMulti: { type: 'array', items: { anyOf: titled } },
      },
      [],
      'Elicitation completed',
    ),
  json_schema_2020_12_tool: () => says(text('ok')),
  test_reconnection: () => says(text('ok')),
}

const REQUIRED: Readonly<Record<string, readonly string[]>> = { test_sampling: ['prompt'], test_elicitation: ['message'] }
const SCHEMA_2020 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: { address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
  properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
  additionalProperties: false,
}
const inputSchema = (name: string): object =>
  name === 'json_schema_2020_12_tool'
    ? SCHEMA_2020
    : {
        type: 'object',
        properties: Object.fromEntries((REQUIRED[name] ?? []).map((key) => [key, { type: 'string' }])),
        required: REQUIRED[name] ?? [],
      }

const RESOURCES: Readonly<Record<string, Json>> = {
  'test://static-text': { mimeType: 'text/plain', text: 'This is the content of the static text resource.' },
  'test://static-binary': { mimeType: 'image/png', blob: PNG },
  'test://watched-resource': { mimeType: 'text/plain', text: 'watched' },
}

const message = (content: Json): Json => ({ role: 'user', content })
const PROMPTS: Readonly<Record<string, (args: Json) => readonly Json[]>> = {
  test_simple_prompt: () => [text('This is a simple prompt for testing.')],
  test_prompt_with_arguments: ({ arg1, arg2 }) => [text(`Prompt with arguments: arg1='${String(arg1)}', arg2='${String(arg2)}'`)],
  test_prompt_with_embedded_resource: ({ resourceUri }) => [
    resource(String(resourceUri), 'text/plain', 'Embedded resource content for testing.'),
    text('Please process the embedded resource above.'),
  ],
  test_prompt_with_image: () => [image, text('Please analyze the image above.')],
}
const PROMPT_ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  test_prompt_with_arguments: ['arg1', 'arg2'],
  test_prompt_with_embedded_resource: ['resourceUri'],
}

const METHODS: Readonly<Record<string, (params: Json) => Json | Promise<Json>>> = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {}, resources: { subscribe: true }, prompts: {}, logging: {}, completions: {} },
    serverInfo: { name: 'conformance', version: '1' },
  }),
  ping: () => ({}),
  'logging/setLevel': () => ({}),
  'completion/complete': () => ({ completion: { values: ['paris', 'park'], total: 2, hasMore: false } }),
  'tools/list': () => ({ tools: Object.keys(TOOLS).map((name) => ({ name, description: name, inputSchema: inputSchema(name) })) }),
  'tools/call': ({ name, arguments: args = {}, _meta = {} }) => {
    const tool = TOOLS[String(name)]
    return tool ? tool(args as Json, _meta as Json) : { ...says(text(`no tool ${String(name)}`)), isError: true }
  },
  'resources/list': () => ({
    resources: Object.entries(RESOURCES).map(([uri, { mimeType }]) => ({ uri, name: uri, description: uri, mimeType })),
  }),
  'resources/templates/list': () => ({ resourceTemplates: [{ uriTemplate: 'test://template/{id}/data', name: 'data' }] }),
  'resources/read'({ uri }) {
    const id = /^test:\/\/template\/(\w+)\/data$/.exec(String(uri))?.[1]
    if (id === undefined) return { contents: [{ uri, ...RESOURCES[String(uri)] }] }
    return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify({ id, templateTest: true }) }] }
  },
  'resources/subscribe': () => ({}),
  'resources/unsubscribe': () => ({}),
  'prompts/list': () => ({
    prompts: Object.keys(PROMPTS).map((name) => ({
      ...{ name, description: name, arguments: (PROMPT_ARGUMENTS[name] ?? []).map((arg) => ({ name: arg, required: true })) },
    })),
  }),
  'prompts/get': ({ name, arguments: args = {} }) => ({ messages: (PROMPTS[String(name)]?.(args as Json) ?? []).map(message) }),
}

createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params = {}, result } = JSON.parse(line) as Message
  if (id === undefined) return
  if (method === undefined) return asked.get(id)?.(result ?? {})
  const found = METHODS[method]
  write(found ? { id, result: await found(params) } : { id, error: { code: -32601, message: `no method ${method}` } })
})
