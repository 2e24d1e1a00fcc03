/** What a command may take. */

export interface Limits {
  /** Bytes, of the whole process tree. */
  readonly memory: number
  /** Cores. */
  readonly cpus: number
  /** Processes and threads at once. */
  readonly processes: number
  /** Seconds a command may take where it does not say. */
  readonly timeout: number
  /** Bytes kept of each stream, head and tail. */
  readonly output: number
  /** Bytes of both streams after which the command is ended. */
  readonly outputStop: number
  /** Bytes that one command may add to the disk. */
  readonly disk: number
}

const MB = 1024 * 1024

export const DEFAULT_LIMITS: Limits = {
  memory: 2048 * MB,
  cpus: 1,
  processes: 256,
  timeout: 120,
  output: 200_000,
  outputStop: 10_000_000,
  disk: 8192 * MB,
}

/** `sandbox.profile: strict`. It mounts no toolchains either. */
export const STRICT_LIMITS: Limits = { ...DEFAULT_LIMITS, memory: 512 * MB, cpus: 0.5, timeout: 30, disk: 512 * MB }

/** Seconds: no command may ask for more. */
export const MAX_TIMEOUT = 600
