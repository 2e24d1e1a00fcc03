/** An MCP server for tests, run as a process of its own. Its argument is a file to which it writes its starts and what it was sent. */
import { appendFileSync, existsSync } from 'node:fs'
import { createInterface } from 'node:readline'

interface Message {
  readonly id?: number | string
  readonly method?: string
  readonly params?: {
    readonly name?: string
    readonly arguments?: Readonly<Record<string, unknown>>
    readonly _meta?: { readonly progressToken?: unknown }
  }
  readonly result?: unknown
  readonly error?: unknown
}

const [log = '', mode] = process.argv.slice(2)
appendFileSync(log, 'start\n')
const text = { text: { type: 'string' } }
const tool = (name: string, properties: object, more: object = {}): object => ({
  name,
  inputSchema: { type: 'object', properties, required: Object.keys(properties) },
  ...more,
})
const readOnly = { annotations: { readOnlyHint: true } }
let tools = [
  tool('add', { a: { type: 'number' }, b: { type: 'number' } }, readOnly),
  tool('read_file', text),
  tool('send', text, { description: 'Sends a text.' }),
  tool('look', text, readOnly),
  tool('ask', {}),
  tool('more', {}),
  { name: 'bad', inputSchema: { type: 'array' } },
  { name: 'worse', inputSchema: { type: 'object', properties: { x: { type: 'string', pattern: '(a+)+$' } } } },
  { name: 'bare' },
  tool(`with.dots and a name that is far too long for the providers of models, who take 64`, {}),
]

const write = (message: object): void => void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const says = (value: string, more: object = {}): object => ({ content: [{ type: 'text', text: value }], ...more })
let asked: number | string | undefined

/** Waits for a file beside the log. */
function opened(then: () => void): void {
  if (existsSync(`${log}.open`)) then()
  else setTimeout(opened, 20, then)
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params = {}, result, error } = JSON.parse(line) as Message
  if (method === undefined && id === 'question' && asked !== undefined)
    return write({ id: asked, result: says(JSON.stringify(result ?? error)) })
  if (method === 'notifications/cancelled') appendFileSync(log, 'cancelled\n')
  if (id === undefined || mode === 'silent') return
  if (mode === 'strict' && method === 'server/discover') process.exit(1)
  if (method === 'initialize')
    return write({
      id,
      result: {
        protocolVersion: '2025-11-25',
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: 'fixture', version: '1' },
      },
    })
  if (method === 'tools/list') return mode === 'gate' ? opened(() => write({ id, result: { tools } })) : write({ id, result: { tools } })
  if (method !== 'tools/call') return write({ id, error: { code: -32601, message: `no method ${method}` } })
  const { name, arguments: args = {}, _meta = {} } = params
  if (name === 'add') return write({ id, result: says(String(Number(args['a']) + Number(args['b'])), { structuredContent: { sum: 1 } }) })
  if (name === 'ask') {
    asked = id
    const properties = {
      color: { type: 'string', enum: ['r', 'g'], enumNames: ['Red', 'Green'] },
      count: { type: 'integer', title: 'How many?' },
      sure: { type: 'boolean' },
    }
    return write({
      id: 'question',
      method: 'elicitation/create',
      params: { message: 'Which?', requestedSchema: { type: 'object', properties } },
    })
  }
  if (name === 'more') {
    tools = [...tools, tool('added', {})]
    write({ method: 'notifications/tools/list_changed' })
    return write({ id, result: says('') })
  }
  appendFileSync(log, `${name} ${String(args['text'])}\n`)
  switch (args['text']) {
    case 'die':
      return process.exit(3)
    case 'hang':
      return write({ method: 'notifications/progress', params: { progressToken: _meta.progressToken, progress: 1, total: 4 } })
    case 'sample':
      asked = id
      return write({ id: 'question', method: 'sampling/createMessage', params: { messages: [], maxTokens: 10 } })
    case 'refused':
      return write({ id, result: says('The disk is full.', { isError: true }) })
    case 'wrong':
      return write({ id, error: { code: -32602, message: 'text must not be "wrong"' } })
    case 'image':
      return write({
        id,
        result: {
          content: [
            { type: 'text', text: 'a dot' },
            { type: 'image', data: 'iVBORw0KGgoA', mimeType: 'image/png' },
          ],
        },
      })
    default:
      return write({ id, result: says(`${name}: ${String(args['text'])}`) })
  }
})
