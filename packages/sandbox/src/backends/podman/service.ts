/** `podman system service` on a socket of our own. It ends by itself when its last connection has gone. */
import type { ChildProcess } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { SandboxError } from '../../errors.ts'
import { isGone, owner } from '../../owner.ts'
import { resolveProgram, safePath, startProgram } from '../../program.ts'
import { connect, type Engine } from '../container/engine.ts'

const PREFIX = 'mulligan-podman-'
const PATTERN = /^mulligan-podman-([\d-]+)-[^-]{6}$/
/** Seconds without a connection after which it ends. */
const IDLE = 10
/** Milliseconds in which it has to answer. */
const START = 15_000
/** What podman finds its storage, its configuration and its runtime by. */
const ENV = /^(PATH|HOME|USER|LANG|LC_ALL|TMPDIR|XDG_\w+|CONTAINERS_\w+|DBUS_SESSION_BUS_ADDRESS)$/

/** @throws SandboxError where podman is missing or does not answer */
export async function startService(env: Readonly<Record<string, string | undefined>>, workspace?: string): Promise<Engine> {
  const podman = resolveProgram('podman', { workspace, path: env['PATH'] ?? '' })
  if (podman === undefined) throw NOT_INSTALLED()
  await sweepSockets()
  const folder = await mkdtemp(join(tmpdir(), `${PREFIX}${owner()}-`))
  const socket = join(folder, 'podman.sock')
  const service = startProgram(podman, ['system', 'service', '--time', String(IDLE), `unix://${socket}`], {
    env: { ...Object.fromEntries(Object.entries(env).filter(([name]) => ENV.test(name))), PATH: safePath(env['PATH'], workspace) },
    stdio: ['ignore', 'ignore', 'pipe'],
    // Ctrl-C is for us to handle: it would end the service before its containers.
    detached: true,
  })
  const ended = endOf(service)
  const close = async () => {
    service.ref()
    service.kill()
    await ended
    await rm(folder, { recursive: true, force: true })
  }
  try {
    const api = await Promise.race([answers(socket), ended.then((reason) => Promise.reject(reason))])
    // The service lives as long as this connection, and so as long as this process.
    const held = (await api.getEvents({ filters: { type: ['volume'] } })) as IncomingMessage
    held.on('error', () => {}).resume()
    // Whoever forgets to close a sandbox can end anyway.
    held.socket.unref()
    service.unref()
    ;(service.stderr as Socket).unref()
    const end = async () => {
      held.destroy()
      await close()
    }
    return { name: 'podman', api, socket, close: end }
  } catch (error) {
    await close()
    throw error
  }
}

const NOT_INSTALLED = () =>
  new SandboxError({ message: 'podman is not installed', remedy: 'Install it: sudo apt install podman, or see podman.io.' })

/** Resolves, with what it came to. */
function endOf(service: ChildProcess): Promise<SandboxError> {
  let said = ''
  service.stderr?.on('data', (chunk: Buffer) => {
    said = `${said}${chunk}`.slice(-2_000)
  })
  return new Promise((resolve) => {
    service.once('error', (cause) => resolve(new SandboxError({ message: `podman can't be started: ${cause.message}`, cause })))
    service.once('close', (code, signal) =>
      resolve(
        new SandboxError({
          message: `podman's service ended with ${signal ?? code}${said === '' ? '' : `: ${said.trim()}`}`,
          remedy: 'Try podman info, which says what is wrong with its setup.',
        }),
      ),
    )
  })
}

async function answers(socket: string) {
  for (const end = Date.now() + START; Date.now() < end; ) {
    const api = await connect(socket)
    if (api) return api
    await sleep(20)
  }
  throw new SandboxError({ message: `podman's service does not answer after ${START / 1000} seconds` })
}

/** Folders of sessions that were killed: their services have ended by themselves. */
async function sweepSockets(): Promise<void> {
  for (const name of await readdir(tmpdir()).catch(() => [])) {
    const label = PATTERN.exec(name)?.[1]
    if (label !== undefined && isGone(label)) await rm(join(tmpdir(), name), { recursive: true, force: true }).catch(() => {})
  }
}
