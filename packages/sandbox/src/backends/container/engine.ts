/** The engine on the other end of a socket: Docker, or Podman, which speaks the same. */
import type Dockerode from 'dockerode'
import { SandboxError } from '../../errors.ts'
import type { EngineName } from './pull-options.ts'

export interface Engine {
  readonly name: EngineName
  readonly api: Dockerode
  readonly socket: string
  /** Started by us, for as long as this is open. */
  readonly close: () => Promise<void>
}

/** Milliseconds: a daemon that hangs is not a daemon. */
const PING_TIMEOUT = 5_000

/** @returns undefined if nobody answers */
export async function connect(socket: string): Promise<Dockerode | undefined> {
  const api = new (await load())({ socketPath: socket })
  try {
    // Its types know only the callback.
    const ping = api.ping as (options: object) => Promise<unknown>
    await ping.call(api, { abortSignal: AbortSignal.timeout(PING_TIMEOUT) })
    return api
  } catch {
    return undefined
  }
}

/** @throws SandboxError where the optional package is not installed */
async function load(): Promise<typeof Dockerode> {
  try {
    return (await import('dockerode')).default
  } catch (cause) {
    throw new SandboxError({
      message: 'the package dockerode, which speaks to container engines, is not installed',
      remedy: 'npm install dockerode',
      cause,
    })
  }
}

export const isMissing = (error: unknown): boolean => statusOf(error) === 404

export const statusOf = (error: unknown): number | undefined =>
  typeof error === 'object' && error !== null && 'statusCode' in error && typeof error.statusCode === 'number'
    ? error.statusCode
    : undefined

/** What the engine itself says, without the words its library puts around it. */
export function reasonOf(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'json' in error) {
    const { json } = error
    if (typeof json === 'object' && json !== null && 'message' in json && typeof json.message === 'string') return json.message.trim()
  }
  return (error instanceof Error ? error.message : String(error)).replace(/^\(HTTP code \d+\) [a-z /]+ - /, '').trim()
}
