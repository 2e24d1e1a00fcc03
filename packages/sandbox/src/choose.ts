/** Chooses the backend: the named one, or the first whose probe passes. */
import type { Backend, Enforcement, OpenBackend, OpenRequest } from './backend.ts'
import { type BackendName, SandboxError } from './command.ts'

/** Each backend is loaded on demand. */
const REGISTRY: Readonly<Record<BackendName, () => Promise<Backend>>> = {
  bubblewrap: async () => (await import('./backends/bubblewrap/bubblewrap.ts')).bubblewrap,
  docker: async () => (await import('./backends/container/docker-podman.ts')).docker,
  podman: async () => (await import('./backends/container/docker-podman.ts')).podman,
  seatbelt: async () => (await import('./backends/seatbelt/seatbelt.ts')).seatbelt,
  none: async () => (await import('./backends/none/none.ts')).none,
}

/** Returns the backends that `auto` tries, in order. `none` is never among them. */
export function autoOrder(platform: NodeJS.Platform = process.platform): readonly BackendName[] {
  const engines = ['docker', 'podman'] as const
  return platform === 'win32' ? engines : [platform === 'darwin' ? 'seatbelt' : 'bubblewrap', ...engines]
}

export interface Probe {
  readonly name: BackendName
  readonly ok: boolean
  readonly enforces?: Enforcement
  /** The reason it is unavailable and how to fix it. */
  readonly reason?: string
  readonly remedy?: string
}

type Load = (name: BackendName) => Promise<Backend>
const load: Load = (name) => REGISTRY[name]()

/** @throws SandboxError that lists each backend that was tried, with its reason and its remedy */
export async function openBackend(name: 'auto' | BackendName, request: OpenRequest, from: Load = load): Promise<OpenBackend> {
  if (name !== 'auto') return (await from(name)).open(request)
  const failed: Probe[] = []
  for (const one of autoOrder()) {
    try {
      return await (await from(one)).open(request)
    } catch (error) {
      failed.push(failure(one, error))
    }
  }
  throw new SandboxError({
    message: `no sandbox can be started here:\n${failed.map(({ name, reason }) => `- ${name}: ${reason}`).join('\n')}`,
    remedy: [
      ...failed.flatMap(({ name, remedy }) => (remedy === undefined ? [] : [`For ${name}: ${remedy}`])),
      'Or set sandbox.backend to none: commands then run directly on this machine.',
    ].join('\n'),
  })
}

/** Opens and closes each backend for real. */
export async function probeAll(request: OpenRequest, names: readonly BackendName[], from: Load = load): Promise<readonly Probe[]> {
  const probe = async (name: BackendName): Promise<Probe> => {
    try {
      const backend = await (await from(name)).open(request)
      await backend.close()
      return { name, ok: true, enforces: backend.enforces }
    } catch (error) {
      return failure(name, error)
    }
  }
  return Promise.all(names.map(probe))
}

const failure = (name: BackendName, error: unknown): Probe => ({
  name,
  ok: false,
  reason: error instanceof Error ? error.message : String(error),
  ...(error instanceof SandboxError && error.remedy !== undefined && { remedy: error.remedy }),
})
