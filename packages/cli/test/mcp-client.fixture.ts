/** A client of an MCP server on a process's stdin and stdout, that shows the lines as they came. */
import { createInterface } from 'node:readline'
import type { Running } from './cli.fixture.ts'

export interface Answer {
  readonly id?: number | string
  readonly result?: {
    readonly content?: readonly { readonly text?: string }[]
    readonly isError?: boolean
    readonly tools?: readonly object[]
  }
  readonly error?: { readonly message: string }
}

export interface McpClient {
  /** Sends a request and returns its answer's line. */
  readonly line: (method: string, params?: object) => Promise<string>
  /** Calls a tool and returns its answer. */
  readonly call: (name: string, args?: object) => Promise<Answer>
  readonly notify: (method: string, params?: object) => void
  /** Closes stdin and waits for the end of the process. */
  readonly end: () => Running['ended']
}

/** Initializes a session. */
export async function mcpClient({ child, ended }: Pick<Running, 'child' | 'ended'>): Promise<McpClient> {
  const waiting = new Map<unknown, (line: string) => void>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, method } = JSON.parse(line) as { readonly id?: unknown; readonly method?: unknown }
    if (method === undefined) waiting.get(id)?.(line)
  })
  let count = 0
  const write = (message: object): void => void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const line = (method: string, params: object = {}): Promise<string> => {
    const id = ++count
    return new Promise((resolve, reject) => {
      waiting.set(id, resolve)
      void ended.then(({ code, stderr }) => reject(new Error(`the process ended with ${code}: ${stderr}`)))
      write({ id, method, params })
    })
  }
  const client: McpClient = {
    line,
    call: async (name, args) => JSON.parse(await line('tools/call', { name, ...(args && { arguments: args }) })) as Answer,
    notify: (method, params = {}) => write({ method, params }),
    end() {
      child.stdin.end()
      return ended
    },
  }
  await line('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } })
  client.notify('notifications/initialized')
  return client
}

export const textOf = ({ result }: Answer): string => (result?.content ?? []).map(({ text = '' }) => text).join('\n')
