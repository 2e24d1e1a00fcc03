/** Fetching an image, when somebody asks for it. */
import { findDocker } from '../docker/docker.ts'
import { findPodman } from '../podman/podman.ts'
import type { Engine, EngineName } from './engine.ts'
import { type PullOptions, pull } from './image.ts'

const FIND: Readonly<Record<EngineName, () => Promise<Engine>>> = { docker: findDocker, podman: findPodman }

/**
 * Fetches an image for commands that run in containers.
 *
 * @example
 * await pullImage(DEFAULT_IMAGE, { onProgress: (line) => console.error(line) })
 *
 * @throws SandboxError where there is no engine, or the engine can't fetch it
 */
export async function pullImage(image: string, { backend, ...options }: PullOptions = {}): Promise<void> {
  const engine = await (backend ? FIND[backend]() : findDocker().catch(() => findPodman()))
  try {
    await pull(engine, image, options)
  } finally {
    await engine.close()
  }
}
