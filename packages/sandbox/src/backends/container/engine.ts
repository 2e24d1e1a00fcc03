/** Talks to the engine at the other end of a socket: Docker, or Podman with the same API. Manages its images and our containers. */
import { setTimeout as sleep } from 'node:timers/promises'
import type Dockerode from 'dockerode'
import { type EngineName, type PullOptions, SandboxError } from '../../command.ts'
import { isGone, owner } from '../../processes.ts'

type Variables = Readonly<Record<string, string>>

export interface Engine {
  readonly name: EngineName
  readonly api: Dockerode
  readonly socket: string
  /** Set if we started the engine: stops it. */
  readonly close: () => Promise<void>
}

/** In milliseconds: an unresponsive daemon counts as absent. */
const PING_TIMEOUT = 5_000

/** @returns undefined if nobody responds @throws SandboxError if the optional package is not installed */
export async function connect(socket: string): Promise<Dockerode | undefined> {
  const { default: Docker } = await import('dockerode').catch((cause) => {
    const message = 'the package dockerode, which speaks to container engines, is not installed'
    throw new SandboxError({ message, remedy: 'npm install dockerode', cause })
  })
  const api = new Docker({ socketPath: socket })
  // The type declarations include only the callback form.
  const ping = api.ping as (options: object) => Promise<unknown>
  return ping.call(api, { abortSignal: AbortSignal.timeout(PING_TIMEOUT) }).then(
    () => api,
    () => undefined,
  )
}

const statusOf = (error: unknown): unknown => (Object(error) as { readonly statusCode?: unknown }).statusCode

/** Returns the engine's own error message, without the text that the library adds around it. */
export function reasonOf(error: unknown): string {
  const { json } = Object(error) as { readonly json?: { readonly message?: unknown } | null }
  if (typeof json?.message === 'string') return json.message.trim()
  return (error instanceof Error ? error.message : String(error)).replace(/^\(HTTP code \d+\) [a-z /]+ - /, '').trim()
}

export const SANDBOX_LABEL = 'dev.mulligan.sandbox'
export const OWNER_LABEL = 'dev.mulligan.owner'

/** Labels for a container, so that the next start can remove containers whose owner is dead. */
export const labelsOf = (sandbox: string): Variables => ({ [SANDBOX_LABEL]: sandbox, [OWNER_LABEL]: owner() })

/**
 * Removes containers whose owner is dead; containers that ended on their own have no owner. Never throws: another process may be
 * sweeping too.
 */
export async function sweepContainers(api: Dockerode): Promise<void> {
  const found = await api.listContainers({ all: true, filters: { label: [SANDBOX_LABEL] } }).catch(() => [])
  const left = found.filter(({ Labels, State }) => isGone(Labels[OWNER_LABEL] ?? '') || ['exited', 'dead', 'stopped'].includes(State))
  await Promise.all(left.map(({ Id }) => removeContainer(api, Id).catch(() => {})))
}

/** How often to check a container that is being removed, and the interval in milliseconds. */
const [ATTEMPTS, WAIT] = [100, 50]

/** Kills and removes a container. Resolves when it is gone. */
export async function removeContainer(api: Dockerode, id: string): Promise<void> {
  const container = api.getContainer(id)
  for (let attempt = 0; ; attempt++) {
    try {
      await container.remove({ force: true, v: true })
      return
    } catch (error) {
      const status = statusOf(error)
      if (status === 404) return
      // 409: the engine or another process is already removing it. Podman reports 500 in that case.
      if (attempt >= ATTEMPTS || (status !== 409 && status !== 500)) throw error
      await sleep(WAIT)
    }
  }
}

/**
 * Returns the variables that the image sets for its programs, such as PATH and JAVA_HOME. @throws SandboxError if the image does
 * not exist
 */
export async function imageEnv({ api, name }: Engine, image: string): Promise<Variables> {
  try {
    const { Config } = await api.getImage(image).inspect()
    return Object.fromEntries((Config?.Env ?? []).map((variable) => /^([^=]*)=?(.*)$/s.exec(variable)?.slice(1) ?? []))
  } catch (cause) {
    if (statusOf(cause) !== 404) throw new SandboxError({ message: `${name} can't read the image ${image}: ${reasonOf(cause)}`, cause })
    const remedy = `Run mulligan sandbox pull, which fetches it, or set sandbox.image to one of those that ${name} images lists.`
    throw new SandboxError({ message: `${name} has no image ${image}`, remedy, cause })
  }
}

/** Merges the image's variables with the sandbox's, which take precedence; the image's PATH entries come after the sandbox's. */
export function mergeEnv(image: Variables, own: Variables): Variables {
  const path = [...new Set([own['PATH'], image['PATH']].flatMap((value) => value?.split(':') ?? []).filter((folder) => folder !== ''))]
  return { ...image, ...own, ...(path.length > 0 && { PATH: path.join(':') }) }
}

/** Pulls an image. This happens only on request, never as part of a run. @throws SandboxError */
export async function pull({ api, name }: Engine, image: string, { signal, onProgress }: Omit<PullOptions, 'backend'>): Promise<void> {
  try {
    // Without a tag, Docker's API pulls all tags.
    const stream = await api.pull(/[:@][^/]*$/.test(image) ? image : `${image}:latest`, { abortSignal: signal })
    await followed(api, stream, onProgress)
  } catch (cause) {
    if (signal?.aborted) throw new SandboxError({ message: `fetching ${image} was stopped`, cause })
    throw new SandboxError({
      message: `${name} can't fetch ${image}: ${reasonOf(cause)}`,
      remedy: 'Check the name and the network, or set sandbox.image to an image that is already on this machine.',
      cause,
    })
  }
}

interface Progress {
  readonly id?: string
  readonly status?: string
  readonly error?: string
}

function followed(api: Dockerode, stream: NodeJS.ReadableStream, onProgress: PullOptions['onProgress']): Promise<void> {
  const told = new Map<string, string>()
  const tell = ({ id = '', status }: Progress) => {
    if (status === undefined || told.get(id) === status) return
    told.set(id, status)
    onProgress?.(id === '' ? status : `${id}: ${status}`)
  }
  return new Promise((resolve, reject) => {
    // Errors arrive in the stream, after a status of 200.
    const onEnd = (error: Error | null, events: readonly Progress[] = []) => {
      const failed = events.find((event) => event.error !== undefined)
      if (error || failed) reject(error ?? new Error(failed?.error))
      else resolve()
    }
    api.modem.followProgress(stream, onEnd, tell)
  })
}
