/** `mulligan mcp serve` gives the tools of a folder to any MCP client, on stdin and stdout or by HTTP on this machine. */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import type { Tool } from '@mulligan/core'
import { indexNames, resolveName, wildcard } from '@mulligan/core/executor'
import { oneLine, UsageError } from '@mulligan/host/light'
import { fileLog, leftOutTexts, OF_CONVERSATION, openApproval, openTools, readSettings, recoverChanges } from '@mulligan/host/parts'
import { type ServedTools, serveTools, serveToolsHttp, type ToolServerOptions } from '@mulligan/mcp'
import { createSpill } from '@mulligan/tools'
import { openDataDir, version, workingFolder } from '../../paths.ts'
import { EXIT, ownCodeIn, watchInterrupts } from '../../process.ts'
import { settled } from '../../trust.ts'
import type { Output } from '../../ui/output.ts'

export interface ServeFlags {
  readonly tools?: string
  readonly mode?: string
  readonly yes?: boolean
  readonly cwd?: string
  /** The port, or true for a free one. */
  readonly http?: number | true
  /** False with `--no-structured`. */
  readonly structured?: boolean
}

/** @returns 0 when the client has gone. @throws UsageError */
export async function serveCommand(flags: ServeFlags, output: Output): Promise<number> {
  const cwd = workingFolder(flags.cwd)
  const data = openDataDir()
  const dir = join(data.output, 'mcp')
  await recoverChanges(cwd, data, (line) => output.err(`${line}\n`))
  const read = () => ({ settings: readSettings(cwd, flags.mode === undefined ? {} : { mode: flags.mode }, process.env) })
  const { settings } = await settled(cwd, read, { uses: 'tools', tell: output.err })
  // Servers that this command itself would use are left to the client.
  await using opened = await openTools(cwd, {
    env: process.env,
    outputs: { dir },
    changes: { dir: data.changes },
    settings: { ...settings, mcpServers: [] },
    around: ownCodeIn(cwd),
  })
  for (const text of leftOutTexts(opened)) output.err(`Left out: ${text}\n`)
  const off = new Set(settings.off.map(({ value }) => value))
  const tools = chosen(
    opened.tools.filter(({ name }) => !off.has(name) && !OF_CONVERSATION.has(name)),
    flags.tools,
  )
  const { policy, approve } = openApproval({
    ...{ settings, cwd, tools, env: process.env, yes: flags.yes === true },
    tell: (line) => output.err(`${line}\n`),
  })
  const server: ToolServerOptions = {
    ...{ name: 'mulligan', version: version(), tools, policy, approve, errors: 'class', structured: flags.structured !== false },
    // Otherwise the rest of a long result is read in pages with a tool of its own.
    ...(tools.some(({ name }) => name === 'read_file') && { spill: createSpill(dir) }),
    log: fileLog(data.log),
  }
  const what = `Serving ${tools.length} tools of ${oneLine(cwd, 200)}`
  const served = flags.http === undefined ? await onStdio(server, what, output) : await overHttp(server, what, flags.http, output)
  const interrupt = watchInterrupts(() => void served.close())
  output.closed.addEventListener('abort', () => void served.close())
  await served.closed
  interrupt.dispose()
  return EXIT.ok
}

const onError =
  ({ err }: Output) =>
  ({ message }: Error): void =>
    err(`mulligan: ${oneLine(message, 400)}\n`)

async function onStdio(server: ToolServerOptions, what: string, output: Output): Promise<ServedTools> {
  // What own tools print must not get between the messages.
  const stdout = new Writable({
    write: (chunk, _, done) => {
      output.out(String(chunk))
      done()
    },
  })
  const served = await serveTools({ ...server, stdout, onError: onError(output) })
  output.err(`${what} on stdin and stdout.\n`)
  return served
}

const TOKEN = 'MULLIGAN_MCP_TOKEN'
const MIN_TOKEN = 16

/** @throws UsageError */
async function overHttp(server: ToolServerOptions, what: string, port: number | true, output: Output): Promise<ServedTools> {
  const own = process.env['MULLIGAN_MCP_TOKEN']
  if (own !== undefined && own.length < MIN_TOKEN)
    throw new UsageError(
      `the token in ${TOKEN} is too short`,
      `It needs at least ${MIN_TOKEN} characters; without the variable, a new one is generated.`,
    )
  const token = own ?? randomBytes(32).toString('base64url')
  const served = await serveToolsHttp({ ...server, token, ...(port !== true && { port }), onError: onError(output) }).catch((error) => {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    throw new UsageError(`port ${port} is in use`, 'Use another port, or omit it for a free one.')
  })
  output.err(`${what} at ${served.url}\n${own === undefined ? `Authorization: Bearer ${token}\n` : `The token is in ${TOKEN}.\n`}`)
  return served
}

/** The tools that match the patterns. @throws UsageError for a pattern that matches none */
function chosen(tools: readonly Tool[], patterns: string | undefined): readonly Tool[] {
  if (patterns === undefined) return tools
  const wanted = patterns.split(',').map((one) => one.trim())
  const matching = (pattern: string): readonly Tool[] => {
    const matches = wildcard(pattern)
    return tools.filter(({ name }) => matches(name))
  }
  for (const pattern of wanted)
    if (matching(pattern).length === 0) {
      const found = resolveName(pattern, indexNames(tools))
      const near = found.kind === 'tool' ? found.tool.name : found.candidates[0]
      throw new UsageError(
        `there is no tool ${oneLine(pattern, 60)}${near ? `; did you mean ${near}?` : ''}`,
        'mulligan tools list lists them.',
      )
    }
  const names = new Set(wanted.flatMap((pattern) => matching(pattern).map(({ name }) => name)))
  return tools.filter(({ name }) => names.has(name))
}
