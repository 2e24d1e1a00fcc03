/** `mulligan mcp proxy` runs an MCP server behind the proxy, on stdin and stdout. */
import { appendFileSync, closeSync, openSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { oneLine, UsageError } from '@mulligan/host/light'
import { credentialStore } from '@mulligan/host/parts'
import {
  createProxy,
  httpServer,
  lineReader,
  type OpenServer,
  openJournal,
  type ProxyEvent,
  processServer,
  secretsIn,
  secretsOfHeaders,
  serverEnv,
  type TokenSource,
  tokenSource,
  withoutSecrets,
} from '@mulligan/mcp'
import { openDataDir } from '../../paths.ts'
import { EXIT, watchInterrupts } from '../../process.ts'
import type { Output } from '../../ui/output.ts'
import { headerOf, variableOf } from './named.ts'
import { createReport } from './report.ts'

export interface ProxyFlags {
  readonly url?: string
  readonly header?: readonly string[]
  readonly env?: readonly string[]
  readonly cwd?: string
  readonly timeout?: number
  readonly maxTime?: number
  readonly maxOutput?: number
  readonly safe?: readonly string[]
  readonly trustAnnotations?: boolean
  readonly restarts?: number
  readonly observe?: boolean
  readonly report?: boolean
  readonly record?: string
}

/** Longest message of a client, in bytes. */
const MAX_LINE = 64 * 1024 * 1024

/** @throws UsageError */
export async function proxyCommand(command: readonly string[], flags: ProxyFlags, output: Output): Promise<number> {
  const { url, record, observe = false, report: isReported = false, env: _, header: __, cwd: ___, ...options } = flags
  if ((command.length === 0) === (url === undefined))
    throw new UsageError('mcp proxy needs a server', 'Name its command after --, or its address with --url.')
  const variables = Object.fromEntries((flags.env ?? []).map(variableOf))
  const headers = Object.fromEntries((flags.header ?? []).map(headerOf))
  const withoutOwn = withoutSecrets([...secretsIn({ ...process.env, ...variables }), ...secretsOfHeaders(headers)])
  const report = createReport(observe)
  const file = record === undefined ? undefined : openRecord(record)
  const note = (event: ProxyEvent): void => {
    report.add(event)
    if (file !== undefined) appendFileSync(file, `${redact(JSON.stringify({ at: new Date().toISOString(), ...event }))}\n`)
  }
  const hasKey = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')
  const auth = url === undefined || hasKey ? undefined : await tokenSource(url, addressOf(url), credentialStore(process.env))
  const redact = (text: string): string => withoutOwn(auth ? auth.redact(text) : text)
  const server = url ?? command.join(' ')
  const journal = observe ? undefined : openJournal(join(openDataDir().dir, 'mcp-calls.db'))
  const gone = Promise.withResolvers<void>()
  const proxy = createProxy({
    ...options,
    ...(journal && { journal }),
    ...{ server: redact(server), observe, redact, onEvent: note, onEnd: () => gone.resolve() },
    open: await serverOf({ command, url, headers, auth, variables, cwd: flags.cwd }, (line) =>
      output.err(`${redact(oneLine(line, 1000))}\n`),
    ),
    toClient: (line) => output.out(`${line}\n`),
  })
  const reader = lineReader(MAX_LINE, proxy.fromClient, ({ bytes }) => output.err(`mulligan: a message of ${bytes} bytes was dropped\n`))
  const interrupt = watchInterrupts(() => gone.resolve())
  process.stdin.on('data', reader.push)
  process.stdin.on('end', gone.resolve)
  process.stdin.on('error', gone.resolve)
  output.closed.addEventListener('abort', () => gone.resolve())
  await gone.promise
  process.stdin.pause()
  await proxy.end()
  interrupt.dispose()
  journal?.close()
  if (file !== undefined) closeSync(file)
  if (isReported || observe) output.err(report.text())
  return EXIT.ok
}

function openRecord(path: string): number {
  try {
    return openSync(path, 'a', 0o600)
  } catch (error) {
    throw new UsageError(`${path} can't be written: ${(error as Error).message}`, 'Name another file with --record.')
  }
}

interface Server {
  readonly command: readonly string[]
  readonly url: string | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly auth: TokenSource | undefined
  readonly variables: Readonly<Record<string, string>>
  readonly cwd: string | undefined
}

async function serverOf({ command, url, headers, auth, variables, cwd }: Server, log: (line: string) => void): Promise<OpenServer> {
  if (url !== undefined) return httpServer({ url: addressOf(url), headers, auth })
  const [program = '', ...args] = command
  const { resolveProgram, startProgram } = await import('@mulligan/sandbox')
  const file = /[\\/]/.test(program) ? resolve(cwd ?? '', program) : resolveProgram(program)
  if (file === undefined)
    throw new UsageError(`there is no program ${JSON.stringify(oneLine(program, 80))} in PATH`, 'Install it, or give its path.')
  const env = serverEnv(process.env, variables)
  return processServer({ command: file, args, env, ...(cwd !== undefined && { cwd }), spawn: startProgram, log })
}

function addressOf(url: string): string {
  if (/^https?:$/.test(URL.parse(url)?.protocol ?? '')) return url
  throw new UsageError(`${JSON.stringify(url)} is not the address of a server`, 'An address begins with http:// or https://.')
}
