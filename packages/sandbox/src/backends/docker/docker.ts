/** Docker, with a daemon that runs already. */
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Backend } from '../../backend.ts'
import { SandboxError } from '../../errors.ts'
import { openContainers } from '../container/backend.ts'
import { connect, type Engine } from '../container/engine.ts'

type Env = Readonly<Record<string, string | undefined>>

export const docker: Backend = {
  name: 'docker',
  open: async (request) => openContainers(await findDocker(), request),
}

/** @throws SandboxError where no daemon answers */
export async function findDocker(env: Env = process.env): Promise<Engine> {
  const sockets = dockerSockets(env)
  for (const socket of sockets) {
    const api = await connect(socket)
    if (api) return { name: 'docker', api, socket, close: async () => {} }
  }
  throw new SandboxError({
    message: `no Docker daemon answers on ${sockets.join(', ')}`,
    remedy: 'Install Docker and start its daemon (sudo systemctl start docker), be in the group docker, or set DOCKER_HOST=unix://SOCKET.',
  })
}

/** @throws SandboxError for a daemon on another machine: the workspace does not exist */
export function dockerSockets(env: Env, home = homedir()): readonly string[] {
  const host = env['DOCKER_HOST']
  if (host) return [socketOf(host, 'DOCKER_HOST')]
  const runtime = env['XDG_RUNTIME_DIR']
  return [
    '/var/run/docker.sock',
    ...(runtime ? [join(runtime, 'docker.sock')] : []),
    join(home, '.docker/run/docker.sock'),
    join(home, '.docker/desktop/docker.sock'),
    join(home, '.colima/default/docker.sock'),
  ]
}

/** @throws SandboxError */
export function socketOf(host: string, variable: string): string {
  const path = /^unix:\/\/(\/.+)$/.exec(host)?.[1]
  if (path !== undefined) return path
  throw new SandboxError({
    message: `${variable} is ${host.replace(/\/\/[^@/]*@/, '//')}, which is not a socket of this machine: its containers could not see the workspace`,
    remedy: `Unset ${variable}, or set it to unix://SOCKET.`,
  })
}
