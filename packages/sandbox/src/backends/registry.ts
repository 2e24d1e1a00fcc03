/** The backends, by name. Each is loaded when it is asked for. */
import type { Backend } from '../backend.ts'
import type { BackendName } from '../command.ts'

export const REGISTRY: Readonly<Record<BackendName, () => Promise<Backend>>> = {
  bubblewrap: async () => (await import('./bubblewrap/bubblewrap.ts')).bubblewrap,
  docker: async () => (await import('./docker/docker.ts')).docker,
  podman: async () => (await import('./podman/podman.ts')).podman,
  seatbelt: async () => (await import('./seatbelt/seatbelt.ts')).seatbelt,
  none: async () => (await import('./none/none.ts')).none,
}
