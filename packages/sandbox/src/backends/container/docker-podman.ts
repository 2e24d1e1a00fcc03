/** Connects to Docker and Podman: services that are already running or, for Podman, a service of our own while the sandbox is open. */
import type { ChildProcess } from 'node:child_process'
import { rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Backend } from '../../backend.ts'
import { type EngineName, SandboxError } from '../../command.ts'
import { makeOwned, sweepOwned } from '../../folders.ts'
import { resolveProgram, safePath, startProgram } from '../../program.ts'
import { openContainers } from './backend.ts'
import { connect, type Engine } from './engine.ts'

type Env = Readonly<Record<string, string | undefined>>

export const docker: Backend = {
  name: 'docker',
  open: async (request) => openContainers(await findDocker(), request),
}

export const podman: Backend = {
  name: 'podman',
  open: async (request) => openContainers(await findPodman(process.env, request.view.workspace), request),
}

/** @throws SandboxError if no daemon responds */
export async function findDocker(env: Env = process.env): Promise<Engine> {
  const sockets = dockerSockets(env)
  const found = await firstOf('docker', sockets)
  if (found) return found
  throw new SandboxError({
    message: `no Docker daemon answers on ${sockets.join(', ')}`,
    remedy: 'Install Docker and start its daemon (sudo systemctl start docker), join the docker group, or set DOCKER_HOST=unix://SOCKET.',
  })
}

/** @throws SandboxError */
export const findPodman = async (env: Env = process.env, workspace?: string): Promise<Engine> =>
  (await firstOf('podman', podmanSockets(env))) ?? startService(env, workspace)

async function firstOf(name: EngineName, sockets: readonly string[]): Promise<Engine | undefined> {
  for (const socket of sockets) {
    const api = await connect(socket)
    if (api) return { name, api, socket, close: async () => {} }
  }
  return undefined
}

/** @throws SandboxError for a daemon on another machine, where the workspace does not exist */
export function dockerSockets(env: Env, home = homedir()): readonly string[] {
  const { DOCKER_HOST: host, XDG_RUNTIME_DIR: runtime } = env
  if (host) return [socketOf(host, 'DOCKER_HOST')]
  const inHome = ['.docker/run/docker.sock', '.docker/desktop/docker.sock', '.colima/default/docker.sock']
  return ['/var/run/docker.sock', ...(runtime ? [join(runtime, 'docker.sock')] : []), ...inHome.map((path) => join(home, path))]
}

/** @throws SandboxError for a service on another machine */
export function podmanSockets(env: Env, uid = process.getuid?.()): readonly string[] {
  const { CONTAINER_HOST: host, XDG_RUNTIME_DIR: runtime } = env
  if (host) return [socketOf(host, 'CONTAINER_HOST')]
  return [...(uid === 0 ? ['/run/podman/podman.sock'] : []), ...(runtime ? [join(runtime, 'podman/podman.sock')] : [])]
}

function socketOf(host: string, variable: string): string {
  const path = /^unix:\/\/(\/.+)$/.exec(host)?.[1]
  if (path !== undefined) return path
  throw new SandboxError({
    message: `${variable} is ${host.replace(/\/\/[^@/]*@/, '//')}, which is not a socket of this machine: its containers could not see the workspace`,
    remedy: `Unset ${variable}, or set it to unix://SOCKET.`,
  })
}

const PREFIX = 'mulligan-podman-'
/** The service ends after this many seconds without a connection. */
const IDLE = 10
/** How long, in milliseconds, the service may take to start. */
const START = 15_000
/** Variables that Podman uses to find its storage, its configuration and its runtime. */
const ENV = /^(PATH|HOME|USER|LANG|LC_ALL|TMPDIR|XDG_\w+|CONTAINERS_\w+|DBUS_SESSION_BUS_ADDRESS)$/

/**
 * Starts `podman system service` on our own socket. It exits on its own after its last connection has closed.
 * @throws SandboxError if Podman is missing or does not respond
 */
async function startService(env: Env, workspace?: string): Promise<Engine> {
  const podman = resolveProgram('podman', { workspace, path: env['PATH'] ?? '' })
  if (podman === undefined)
    throw new SandboxError({ message: 'podman is not installed', remedy: 'Install it: sudo apt install podman, or see podman.io.' })
  await sweepOwned(PREFIX)
  const folder = await makeOwned(PREFIX)
  const socket = join(folder, 'podman.sock')
  const service = startProgram(podman, ['system', 'service', '--time', String(IDLE), `unix://${socket}`], {
    env: { ...Object.fromEntries(Object.entries(env).filter(([name]) => ENV.test(name))), PATH: safePath(env['PATH'], workspace) },
    // When a container runs out of memory, its monitor leaves a file `oom` in its working folder.
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
    // We handle Ctrl-C ourselves: it would end the service before its containers.
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
    // The service lives as long as this connection, and therefore as long as this process.
    const held = (await api.getEvents({ filters: { type: ['volume'] } })) as IncomingMessage
    held.on('error', () => {}).resume()
    // The process can exit even if a sandbox was not closed.
    for (const one of [held.socket, service, service.stderr as Socket]) one.unref()
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

/** Resolves with the error when the service has ended. */
function endOf(service: ChildProcess): Promise<SandboxError> {
  let says = ''
  service.stderr?.on('data', (chunk: Buffer) => {
    says = `${says}${chunk}`.slice(-2_000)
  })
  return new Promise((resolve) => {
    service.once('error', (cause) => resolve(new SandboxError({ message: `podman can't be started: ${cause.message}`, cause })))
    service.once('close', (code, signal) => {
      const message = `podman's service ended with ${signal ?? code}${says === '' ? '' : `: ${says.trim()}`}`
      resolve(new SandboxError({ message, remedy: 'Run podman info to see what is wrong with its setup.' }))
    })
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
