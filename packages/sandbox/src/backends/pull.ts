/** Fetching an image, when somebody asks for it. */
import type { Engine } from './container/engine.ts'
import type { EngineName, PullOptions } from './container/pull-options.ts'

const FIND: Readonly<Record<EngineName, () => Promise<Engine>>> = {
  docker: async () => (await import('./docker/docker.ts')).findDocker(),
  podman: async () => (await import('./podman/podman.ts')).findPodman(),
}

/**
 * Fetches an image for commands that run in containers.
 *
 * @example
 * await pullImage(DEFAULT_IMAGE, { onProgress: (line) => console.error(line) })
 *
 * @throws SandboxError where there is no engine, or the engine can't fetch it
 */
export async function pullImage(image: string, { backend, ...options }: PullOptions = {}): Promise<void> {
  const engine = await (backend ? FIND[backend]() : FIND.docker().catch(FIND.podman))
  try {
    const { pull } = await import('./container/image.ts')
    await pull(engine, image, options)
  } finally {
    await engine.close()
  }
}
