/** `mulligan mcp list`, `add`, `remove` and `test`: the MCP servers whose tools the model may use. */
import { oneLine, UsageError } from '@mulligan/host/light'
import { leftOutText, type McpServerStatus, openServers, readSettings, type Settings } from '@mulligan/host/parts'
import { workingFolder } from '../../paths.ts'
import { EXIT, endProcess, watchInterrupts } from '../../process.ts'
import { settled } from '../../trust.ts'
import type { Output } from '../../ui/output.ts'
import { type FolderFlags, print, table } from '../../ui/text.ts'
import { type EditFlags, setValue, unsetConfig } from '../config/edit.ts'
import { headerOf, variableOf } from './named.ts'
import { statusText } from './status-text.ts'

type Configured = Settings['mcpServers'][number]

const ADD = 'mulligan mcp add NAME -- COMMAND… adds one.'

/** Lists the configured servers. Starts none. @throws UsageError */
export function listServers(flags: FolderFlags, output: Output): number {
  const { mcpServers } = readSettings(workingFolder(flags.cwd), {}, process.env)
  const rows = mcpServers.map((one) => [one.value.name, reachText(one), one.value.server.disabled ? 'disabled' : '', one.from])
  print(
    output,
    flags.json,
    {
      servers: mcpServers.map((one) => ({
        name: one.value.name,
        reached: reachText(one),
        disabled: one.value.server.disabled === true,
        from: one.from,
      })),
    },
    rows.length === 0 ? [`There are no MCP servers. ${ADD}`] : table([['SERVER', 'REACHED BY', '', 'FROM'], ...rows]),
  )
  return EXIT.ok
}

/** The command or the address, without what may be a key. */
const reachText = ({ value: { server } }: Configured): string =>
  oneLine([server.command ?? withoutQuery(server.url ?? ''), ...(server.args ?? [])].join(' '), 80)

const withoutQuery = (url: string): string => url.replace(/\/\/[^/@]*@/, '//').replace(/\?.*$/, '?…')

export interface AddFlags extends EditFlags {
  readonly url?: string
  readonly header?: readonly string[]
  readonly env?: readonly string[]
}

/** Adds a server to the configuration, or replaces it, and asks it for its tools. @throws UsageError */
export async function addServer(name: string, command: readonly string[], flags: AddFlags, output: Output): Promise<number> {
  const { url, header = [], env = [] } = flags
  if ((command.length === 0) === (url === undefined))
    throw new UsageError('mcp add needs a server', 'Name its command after --, or its address with --url.')
  if (!/^[\w-]{1,40}$/.test(name))
    throw new UsageError(
      `${JSON.stringify(oneLine(name, 60))} can't be the name of a server`,
      'A name has letters, digits, _ and -, at most 40.',
    )
  const [program, ...args] = command
  const variables = Object.fromEntries(env.map((text) => (text.includes('=') ? variableOf(text) : [text, `\${${text}}`])))
  const server = {
    ...(program === undefined
      ? { url, ...(header.length > 0 && { headers: Object.fromEntries(header.map(headerOf)) }) }
      : { command: program, args }),
    ...(env.length > 0 && { env: variables }),
  }
  const shown = await setValue(['mcpServers', name], server, flags)
  output.err(`Added ${name} to ${shown}.\n`)
  return testServers(name, flags, output)
}

/** @throws UsageError */
export const removeServer = (name: string, flags: EditFlags, output: Output): Promise<number> =>
  unsetConfig(`mcpServers[${JSON.stringify(name)}]`, flags, output)

/** Seconds to wait for a server. `npx` may have to download it. */
const WAIT = 60
/** Milliseconds after which the person is told what is waited for. */
const SLOW = 2000

/** How a server is that has had its time. */
export const testedText = (one: McpServerStatus): string =>
  statusText({
    ...one,
    ...(one.state === 'running' && { state: 'idle' }),
    ...(one.state === 'starting' && {
      why: `it did not answer in ${WAIT} s: check that its command or address is that of an MCP server, and that it needs no input`,
    }),
  })

/** Starts the servers and asks for their tools, which are then known. @returns 1 if one can't be used. @throws UsageError */
export async function testServers(name: string | undefined, flags: FolderFlags, output: Output): Promise<number> {
  const cwd = workingFolder(flags.cwd)
  const read = () => ({ settings: readSettings(cwd, {}, process.env) })
  const { settings } = await settled(cwd, read, { tell: output.err, uses: 'tools' })
  const mcpServers = settings.mcpServers.filter(({ value }) => name === undefined || value.name === name)
  if (name !== undefined && mcpServers.length === 0)
    throw new UsageError(`there is no MCP server ${JSON.stringify(oneLine(name, 60))}`, `mulligan mcp list lists them; ${ADD}`)
  const interrupt = watchInterrupts(() => endProcess(EXIT.cancelled))
  const opened = await openServers(cwd, { mcpServers }, { env: process.env, taken: [], fresh: true, wait: WAIT })
  try {
    const slow = setTimeout(() => {
      const names = opened.status().flatMap((one) => (one.state === 'starting' ? [one.name] : []))
      output.err(`Waiting for ${names.join(', ')}, at most ${WAIT} s …\n`)
    }, SLOW)
    await opened.ready().finally(() => clearTimeout(slow))
    const servers = opened.status()
    const lines = [
      ...servers.map(testedText),
      ...opened.leftOut.filter(({ tool }) => tool !== undefined).map((one) => `! ${leftOutText(one)}`),
    ]
    print(output, flags.json, { servers, leftOut: opened.leftOut }, lines.length === 0 ? [`There are no MCP servers. ${ADD}`] : lines)
    return servers.every(({ state }) => state !== 'failed' && state !== 'starting') ? EXIT.ok : EXIT.failed
  } finally {
    await opened.close()
    interrupt.dispose()
  }
}
