/** The fastest MCP server: three tools whose results are ready. */
import { createInterface } from 'node:readline'

const MEGABYTES = 20
const tool = (name: string, readOnlyHint: boolean): object => ({
  ...{ name, description: name, annotations: { readOnlyHint } },
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
})
const INIT = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'bench', version: '1' } }
const LONG = 'a line of a long text, as a log has it\n'.repeat((MEGABYTES * 1024 * 1024) / 39)

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line) as {
    readonly id?: number
    readonly method: string
    readonly params?: { readonly name?: string; readonly arguments?: { readonly text: string } }
  }
  if (id === undefined) return
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: resultOf(method, params?.name, params?.arguments?.text) })}\n`)
})

function resultOf(method: string, name: string | undefined, text = ''): object {
  if (method === 'initialize') return INIT
  if (method === 'tools/list') return { tools: [tool('read', true), tool('write', false), tool('long', true)] }
  return { content: [{ type: 'text', text: name === 'long' ? LONG : text }] }
}
