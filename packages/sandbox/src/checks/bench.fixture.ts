/**
 * Sets up what the checks run against: a sandbox, the same machine without one, and things planted there that are reachable without
 * isolation.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { createSocket as createUdp } from 'node:dgram'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createSocket } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Command, CommandError, type Completed, type Sandbox, type SandboxOptions } from '../index.ts'
import { syscallProgram } from './syscall-program.fixture.ts'

export type Open = (options: SandboxOptions) => Promise<Sandbox>
type Over = Partial<Omit<SandboxOptions, 'workspace'>> & { readonly workspace?: string }

export interface Outside {
  readonly stdout: string
  readonly exitCode: number | null
}

export interface Bench {
  readonly sandbox: Sandbox
  readonly isRoot: boolean
  /** Runs a command in the sandbox and accepts any result. */
  readonly inside: (command: string | Command, sandbox?: Sandbox) => Promise<Completed>
  /** Runs the same on the host, without isolation, in a twin of the workspace. */
  readonly outside: (script: string) => Promise<Outside>
  /** Opens another sandbox, which is closed when the check ends. */
  readonly open: (options?: Over) => Promise<Sandbox>
  /** Creates another empty folder with the same owner as the workspace. */
  readonly folder: (name: string) => string
  /** Changes the owner to the workspace's owner. */
  readonly give: (path: string) => void
  readonly workspace: string
  readonly twin: string
  readonly planted: Planted
  /** Lists processes on the host, including sandboxed ones, with this text in their command line or environment. */
  readonly processesWith: (mark: string) => readonly number[]
  /** Waits until a condition holds; false if it did not within ten seconds. */
  readonly until: (condition: () => boolean | Promise<boolean>) => Promise<boolean>
  readonly received: () => readonly string[]
  readonly close: () => Promise<void>
  /** Closes everything opened by `open` since the last call. */
  readonly tidy: () => Promise<void>
}

/** Variable names for scripts: `$NAME`. */
export type Planted = Readonly<Record<'HOST_HOME' | 'OTHER' | 'STRAY' | 'HTTP' | 'UDP' | 'SOCKET' | 'ABSTRACT' | 'VICTIM' | 'MARK', string>>

export const SECRET = 'planted-3f1c'
const KEY = 'planted-key-77aa'

export interface BenchOptions {
  readonly open: Open
  /** The uid that owns the workspace; default: our own. */
  readonly owner?: number
}

export async function createBench({ open: start, owner }: BenchOptions): Promise<Bench> {
  const base = mkdtempSync(join(realpathSync(tmpdir()), 'mulligan-checks-'))
  chmodSync(base, 0o755)
  const give = (path: string): void => {
    if (owner !== undefined) chownTree(path, owner)
  }
  const workspace = project(join(base, 'code', 'project'))
  const twin = project(join(base, 'twin'))
  give(join(base, 'code'))
  const home = plantHome(join(base, 'home'))
  give(home)
  const other = join(base, 'other')
  write(join(other, 'secret.txt'), SECRET)
  chmodSync(other, 0o777)
  const stray = join(tmpdir(), `mulligan-stray-${randomUUID()}`)
  writeFileSync(stray, SECRET)

  const packets: string[] = []
  const http = createServer((_, response) => response.end(SECRET)).listen(0, '0.0.0.0')
  const path = createSocket((socket) => socket.end(SECRET)).listen(join(other, 'host.sock'))
  const abstract = `mulligan-${randomUUID()}`
  const named = createSocket((socket) => socket.end(SECRET)).listen(`\0${abstract}`)
  await Promise.all([http, path, named].map((server) => once(server, 'listening')))
  chmodSync(join(other, 'host.sock'), 0o777)
  const udp = createUdp('udp4', (message) => packets.push(String(message)))
  udp.bind(0, '127.0.0.1')
  await once(udp, 'listening')
  const mark = `mulligan-victim-${randomUUID()}`
  const victim = spawn('/bin/sh', ['-c', 'sleep 3600', mark], { env: { PLANTED_KEY: KEY, PATH: '/usr/bin:/bin' }, stdio: 'ignore' })

  const planted: Planted = {
    HOST_HOME: home,
    OTHER: other,
    STRAY: stray,
    HTTP: String((http.address() as AddressInfo).port),
    UDP: String(udp.address().port),
    SOCKET: join(other, 'host.sock'),
    ABSTRACT: abstract,
    VICTIM: String(victim.pid),
    MARK: mark,
  }
  const hostEnv = { ...process.env, HOME: home, PLANTED_KEY: KEY, OPENAI_API_KEY: KEY }
  const opened: Sandbox[] = []
  const open = async (over: Over = {}): Promise<Sandbox> => {
    const sandbox = await start({ workspace, hostEnv, ...over })
    opened.push(sandbox)
    return sandbox
  }
  const sandbox = await start({ workspace, hostEnv })
  const outsiders = new Set<ChildProcess>()
  const tidy = async () => {
    await Promise.all(opened.splice(0).map((one) => one.close()))
  }
  return {
    sandbox,
    isRoot: process.getuid?.() === 0,
    inside: async (command, where = sandbox) => {
      const given: Command = typeof command === 'string' ? { script: command } : command
      return where.run({ ...given, env: { ...planted, ...given.env } }).catch((error: unknown) => {
        if (error instanceof CommandError) return error.completed
        throw error
      })
    },
    outside: async (script) => {
      const child = spawn('/bin/bash', ['-c', script], { cwd: twin, env: { ...hostEnv, ...planted }, stdio: ['ignore', 'pipe', 'inherit'] })
      outsiders.add(child)
      const [stdout, [exitCode]] = await Promise.all([text(child.stdout), once(child, 'exit') as Promise<[number | null]>])
      return { stdout, exitCode }
    },
    open,
    folder: (name) => {
      const folder = join(base, 'code', `${name}-${randomUUID()}`)
      mkdirSync(folder)
      give(folder)
      return folder
    },
    give,
    workspace,
    twin,
    planted,
    processesWith,
    until: async (condition) => {
      for (let tries = 0; tries < 200; tries++) {
        if (await condition()) return true
        await sleep(50)
      }
      return false
    },
    received: () => packets,
    tidy,
    close: async () => {
      await tidy()
      await sandbox.close()
      victim.kill('SIGKILL')
      http.closeAllConnections()
      for (const server of [http, path, named]) server.close()
      udp.close()
      rmSync(base, { recursive: true, force: true })
      rmSync(stray, { force: true })
    },
  }
}

/** Creates a repository with a hook and settings, and programs that make one system call each. */
function project(folder: string): string {
  write(join(folder, 'package.json'), '{"name":"project","scripts":{"test":"node --test"}}')
  write(join(folder, '.git/HEAD'), 'ref: refs/heads/main\n')
  write(join(folder, '.git/config'), '[core]\n\trepositoryformatversion = 0\n\thooksPath = .husky\n')
  write(join(folder, '.git/hooks/pre-commit.sample'), '#!/bin/sh\n')
  mkdirSync(join(folder, '.git/objects'))
  mkdirSync(join(folder, '.git/refs'))
  write(join(folder, '.husky/pre-commit'), '#!/bin/sh\n')
  for (const [name, bytes] of Object.entries(SYSCALLS())) {
    write(join(folder, 'syscalls', name), bytes)
    chmodSync(join(folder, 'syscalls', name), 0o755)
  }
  return folder
}

const NUMBERS: Readonly<Record<string, readonly [number, number, ...(number | bigint)[]]>> = {
  vsock: [41, 198, 40, 1, 0],
  netlinkEvents: [41, 198, 16, 3, 15],
  newUser: [272, 97, 0x10000000],
  cloneUser: [56, 220, 0x10000011],
  keyring: [250, 219, 0, -4, 1],
  bpf: [321, 280, 0, 1, 128],
  perf: [298, 241, 1, 0, -1, -1, 0],
  userfault: [323, 282, 1],
  uring: [425, 425, 1, 1],
  setns: [308, 268, -1, 0],
  mount: [165, 40, 1, 1, 1, 0, 0],
  fsopen: [430, 430, 1, 0],
  handle: [304, 265, -1, 1, 0],
  pushBack: [16, 29, 0, 0x5412, 0],
  none: [39, 172],
}

const SYSCALLS = (): Readonly<Record<string, Uint8Array>> =>
  Object.fromEntries(
    Object.entries(NUMBERS).map(([name, [x64, arm64, ...args]]) => [name, syscallProgram(process.arch === 'arm64' ? arm64 : x64, args)]),
  )

function plantHome(home: string): string {
  const secrets =
    '.ssh/id_ed25519 .aws/credentials .npmrc .netrc .git-credentials .docker/config.json .config/gh/hosts.yml .bash_history .cargo/credentials.toml .nvm/.npmrc notes.txt'
  for (const name of secrets.split(' ')) write(join(home, name), SECRET)
  for (const name of ['.cargo/bin/planted-tool', '.nvm/versions/node/v1.0.0/bin/planted-node', '.local/share/uv/python/planted']) {
    write(join(home, name), '#!/bin/sh\necho tool\n')
    chmodSync(join(home, name), 0o755)
  }
  write(join(home, '.gitconfig'), '[user]\n\tname = Ada\n\temail = ada@example.org\n')
  return home
}

function write(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
}

function chownTree(path: string, uid: number): void {
  lchownSync(path, uid, uid)
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const inner = join(path, entry.name)
    if (entry.isDirectory()) chownTree(inner, uid)
    else chownSync(inner, uid, uid)
  }
}

function processesWith(mark: string): readonly number[] {
  const shows = (pid: string): boolean => {
    try {
      return (
        readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(mark) && !/^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'))
      )
    } catch {
      return false
    }
  }
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid && shows(name))
    .map(Number)
}
