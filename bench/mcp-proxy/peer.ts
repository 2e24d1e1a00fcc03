/** The proxy of the package `mcp-proxy`, on stdin and stdout, in front of the command in its arguments. */
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Server } from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { proxyServer } from 'mcp-proxy'

const [command = '', ...args] = process.argv.slice(2)
const client = new Client({ name: 'bench', version: '1.0.0' })
// The largest message that is read, in bytes.
await client.connect(new StdioClientTransport({ command, args, maxBufferSize: 64 * 1024 * 1024 }))
const serverCapabilities = client.getServerCapabilities() ?? {}
const server = new Server({ name: 'bench', version: '1.0.0' }, { capabilities: serverCapabilities })
await proxyServer({ client, server, serverCapabilities })
await server.connect(new StdioServerTransport())
