/**
 * An MCP server that misbehaves on request, run as a process of its own. Its arguments: a file to which it writes what it was asked to
 * send, and optionally `stays`, with which it goes on after its client has gone and has a child that does, too.
 */
import { spawn } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

interface Request {
  readonly id?: number
  readonly method: string
  readonly params?: { readonly name?: string; readonly arguments?: Readonly<Record<string, unknown>> }
}

const [sent = '', stays] = process.argv.slice(2)
const tool = (name: string, properties: object, annotations: object = {}): object => ({
  name,
  inputSchema: { type: 'object', properties, required: Object.keys(properties) },
  annotations,
})
const TOOLS = [
  tool('environment', {}, { readOnlyHint: true }),
  tool('add', { a: { type: 'number' }, b: { type: 'number' } }, { readOnlyHint: true }),
  tool('send', { text: { type: 'string' } }),
]

if (stays !== undefined) {
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT']) process.on(signal, () => undefined)
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
  appendFileSync(sent, `${process.pid} ${child.pid}\n`)
  setInterval(() => undefined, 1000)
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const request = JSON.parse(line) as Request
  if (request.id === undefined) return
  const result = resultOf(request)
  if (result !== undefined) process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: request.id, result })}\n`)
})

function resultOf({ method, params: { name, arguments: args = {} } = {} }: Request): object | undefined {
  if (method === 'initialize')
    return { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'fixture', version: '1' } }
  if (method === 'tools/list') return { tools: TOOLS }
  if (name === 'environment') return says(JSON.stringify(process.env))
  if (name === 'add') return says(String((args['a'] as number) + (args['b'] as number)))
  if (name !== 'send') return {}
  appendFileSync(sent, `${String(args['text'])}\n`)
  return args['text'] === 'and hang' ? undefined : says('Sent.')
}

function says(text: string): object {
  return { content: [{ type: 'text', text }] }
}
