/** Runs our client against a server of the conformance suite, whose address is the last argument. Logs in where the server wants it. */
import { spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { createExecutor } from '@mulligan/core/executor'
import { type Credentials, NO_CREDENTIALS } from '../oauth/credentials.ts'
import { logIn, type OAuthSettings } from '../oauth/login.ts'
import { type McpServers, openMcpServers } from './servers.ts'

const url = process.argv.at(-1) ?? ''
const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? ''
const context = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as {
  readonly client_id?: string
  readonly client_secret?: string
}

let credentials: Credentials = NO_CREDENTIALS
const store = {
  read: async () => credentials,
  change: async (change: (now: Credentials) => Promise<Credentials> | Credentials) => {
    credentials = await change(credentials)
  },
}

/** The client that the suite has registered, or whose metadata it knows. */
const oauth: OAuthSettings = {
  ...(context.client_id !== undefined && { clientId: context.client_id, clientSecret: context.client_secret }),
  ...(scenario === 'auth/basic-cimd' && { clientId: 'https://conformance-test.local/client-metadata.json' }),
}

const open = (): McpServers =>
  openMcpServers(
    { server: { url, tools: { '*': { effect: 'read', timeout: 20 } } } },
    {
      ...{ cwd: tmpdir(), env: {}, taken: [], wait: 20, version: '1', spawn, credentials: store },
      cache: { get: () => undefined, set: () => undefined },
      environment: () => ({}),
      resolve: () => undefined,
      // Takes what the server proposes.
      ask: async (_, options) => options?.[0] ?? '',
    },
  )

/** @returns what the servers that can't be used, and the calls that failed, say */
async function use(servers: McpServers): Promise<readonly string[]> {
  const says = servers.leftOut.map(({ why }) => why)
  const executor = createExecutor({ tools: servers.tools, policy: () => ({ decision: 'allow', reason: '' }) })
  for (const [ordinal, { name, inputSchema }] of servers.tools.entries()) {
    const { required = [] } = inputSchema as { readonly required?: readonly string[] }
    const input = Object.fromEntries(required.map((parameter, at) => [parameter, at + 1]))
    const prepared = await executor.prepare({ id: `conformance/1/1/${ordinal}`, step: 1, ordinal, name, input })
    if (prepared.kind === 'approval') continue
    const { result } = prepared.kind === 'ready' ? await executor.execute(prepared.call) : prepared.record
    if (!result.ok) says.push(result.error)
  }
  return says
}

/** Logins in a row: a server may want more rights again and again. */
const MAX_LOGINS = 3

for (let logins = 0; ; logins++) {
  const servers = open()
  await servers.ready()
  const says = await use(servers)
  await servers.close()
  const wanted = says.map((text) => /`mulligan mcp login server(?: --scope "([^"]*)")?`/.exec(text)).find((one) => one !== null)
  for (const text of says) console.error(text)
  if (!wanted || logins === MAX_LOGINS) process.exit(wanted || says.length > 0 ? 1 : 0)
  await logIn({
    ...{ url, store, ...oauth, ...(wanted[1] !== undefined && { scope: wanted[1] }) },
    signal: AbortSignal.timeout(20_000),
    open: (address) => void fetch(address).then((response) => response.text()),
  })
}
