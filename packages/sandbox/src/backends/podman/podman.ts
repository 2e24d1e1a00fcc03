/** Podman: a service that runs already, or one of our own for as long as the sandbox is open. */
import { join } from 'node:path'
import type { Backend } from '../../backend.ts'
import { openContainers } from '../container/backend.ts'
import { connect, type Engine } from '../container/engine.ts'
import { socketOf } from '../docker/docker.ts'
import { startService } from './service.ts'

type Env = Readonly<Record<string, string | undefined>>

export const podman: Backend = {
  name: 'podman',
  open: async (request) => openContainers(await findPodman(process.env, request.view.workspace), request),
}

/** @throws SandboxError */
export async function findPodman(env: Env = process.env, workspace?: string): Promise<Engine> {
  for (const socket of podmanSockets(env)) {
    const api = await connect(socket)
    if (api) return { name: 'podman', api, socket, close: async () => {} }
  }
  return startService(env, workspace)
}

/** @throws SandboxError for a service on another machine */
export function podmanSockets(env: Env, uid = process.getuid?.()): readonly string[] {
  const host = env['CONTAINER_HOST']
  if (host) return [socketOf(host, 'CONTAINER_HOST')]
  const runtime = env['XDG_RUNTIME_DIR']
  return [...(uid === 0 ? ['/run/podman/podman.sock'] : []), ...(runtime ? [join(runtime, 'podman/podman.sock')] : [])]
}
