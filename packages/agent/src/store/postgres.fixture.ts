/** Starts a private PostgreSQL server in a temporary folder, with a proxy in front of it to cut connections. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chownSync, existsSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createConnection, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import pg from 'pg'

/** The user `nobody`: the server refuses to run as root. */
const NOBODY = 65_534
export const PASSWORD = 'p@ss:w/rd#1'

const folders = [
  ...(process.env['PATH'] ?? '').split(delimiter),
  ...globSync('/usr/lib/postgresql/*/bin').sort((a, b) => Number(b.split('/')[4]) - Number(a.split('/')[4])),
]
const bin = folders.find((folder) => ['postgres', 'initdb'].every((name) => existsSync(join(folder, name))))

/** Always true in CI, so that the tests fail if PostgreSQL is missing. */
export const hasPostgres = bin !== undefined || Boolean(process.env['CI'])

export interface PostgresServer {
  readonly port: number
  /** Creates an empty database and returns its address. */
  readonly database: (port?: number) => Promise<string>
  /** Stops the server like a crash: nothing more is written. */
  readonly crash: () => Promise<void>
  readonly start: () => Promise<void>
  readonly stop: () => Promise<void>
}

/** @param settings for postgresql.conf, in addition to those that make it fast */
export async function startPostgres(settings: Readonly<Record<string, string>> = {}): Promise<PostgresServer> {
  if (bin === undefined) throw new Error('There is no PostgreSQL on this machine. Debian has it in the package postgresql.')
  const found = bin
  const folder = mkdtempSync(join(tmpdir(), 'mulligan-postgres-'))
  const asUser = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  if ('uid' in asUser) chownSync(folder, NOBODY, NOBODY)
  const data = join(folder, 'data')
  const secret = join(folder, 'password')
  writeFileSync(secret, PASSWORD)
  const env = { PATH: process.env['PATH'] ?? '', LC_ALL: 'C', TZ: 'UTC' }
  const options = ['-D', data, '-U', 'ann', '-A', 'scram-sha-256', `--pwfile=${secret}`, '-E', 'UTF8', '--locale=C', '--no-sync']
  const made = spawnSync(join(found, 'initdb'), options, { ...asUser, env, cwd: folder, encoding: 'utf8' })
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}${made.error?.message ?? ''}`)

  const port = await freePort()
  const all = { listen_addresses: '127.0.0.1', port: String(port), unix_socket_directories: folder, fsync: 'off', ...settings }
  let server: ChildProcess | undefined
  let databases = 0

  const urlOf = (database: string, at = port): string => `postgres://ann:${encodeURIComponent(PASSWORD)}@127.0.0.1:${at}/${database}`

  async function start(): Promise<void> {
    const args = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    server = spawn(join(found, 'postgres'), ['-D', data, ...args], { ...asUser, env, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
    const started = server
    await new Promise<void>((resolve, reject) => {
      let log = ''
      started.stderr?.setEncoding('utf8').on('data', (text: string) => {
        log += text
        if (log.includes('is ready to accept connections')) resolve()
      })
      started.on('exit', () => reject(new Error(`postgres did not start: ${log}`)))
    })
  }

  function end(signal: NodeJS.Signals): Promise<void> {
    const ended = server
    if (!ended || ended.exitCode !== null) return Promise.resolve()
    return new Promise((resolve) => {
      ended.once('exit', () => resolve())
      ended.kill(signal)
    })
  }

  await start()
  return {
    port,
    database: async (at) => {
      const name = `test_${++databases}`
      await runSql(`CREATE DATABASE ${name}`, urlOf('postgres'))
      return urlOf(name, at)
    },
    crash: () => end('SIGQUIT'),
    start,
    stop: async () => {
      await end('SIGINT')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export async function runSql<Row>(sql: string, url: string): Promise<readonly Row[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query(sql)).rows as Row[]
  } finally {
    await client.end()
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  const port = await listening(server)
  await new Promise((resolve) => server.close(resolve))
  return port
}

const listening = (server: Server): Promise<number> =>
  new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port)))

export interface TcpProxy {
  readonly port: number
  /** Ends every connection. `matching`: instead ends the connection that next sends this text, before or after the server receives it. */
  readonly cut: (when?: { readonly matching: string; readonly deliver: boolean }) => void
  readonly close: () => Promise<void>
}

export async function proxyTo(port: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  let trap: { readonly matching: string; readonly deliver: boolean } | undefined
  const server = createServer((client) => {
    const upstream = createConnection(port, '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
    }
    client.on('data', (chunk) => {
      const sprung = trap !== undefined && chunk.includes(trap.matching) ? trap : undefined
      if (!sprung) return void upstream.write(chunk)
      trap = undefined
      if (!sprung.deliver) upstream.destroy()
      // The server answers, but the answer never arrives.
      else upstream.once('data', () => upstream.destroy()).write(chunk)
      client.destroy()
    })
    upstream.on('data', (chunk) => client.write(chunk)).on('close', () => client.destroy())
    client.on('close', () => upstream.end())
  })
  return {
    port: await listening(server),
    cut: (when) => {
      if (when) trap = when
      else for (const socket of sockets) socket.destroy()
    },
    close: () => {
      for (const socket of sockets) socket.destroy()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
