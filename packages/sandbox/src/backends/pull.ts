/** Pulls container images on request. */
import type { PullOptions } from '../command.ts'

/**
 * Pulls an image for commands that run in containers.
 *
 * @example
 * await pullImage(DEFAULT_IMAGE, { onProgress: (line) => console.error(line) })
 *
 * @throws SandboxError if there is no engine, or the engine can't pull the image
 */
export async function pullImage(image: string, { backend, ...options }: PullOptions = {}): Promise<void> {
  const { findDocker, findPodman } = await import('./container/docker-podman.ts')
  const { pull } = await import('./container/engine.ts')
  const find = { docker: () => findDocker(), podman: () => findPodman() }
  const engine = await (backend ? find[backend]() : find.docker().catch(find.podman))
  try {
    await pull(engine, image, options)
  } finally {
    await engine.close()
  }
}
