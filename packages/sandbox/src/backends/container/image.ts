/** Images: never fetched by a run, only when somebody asks for it. */
import type Dockerode from 'dockerode'
import { SandboxError } from '../../errors.ts'
import { type Engine, isMissing, reasonOf } from './engine.ts'
import type { PullOptions } from './pull-options.ts'

/** Variables that the image sets for its programs, such as PATH and JAVA_HOME. @throws SandboxError where the image does not exist */
export async function imageEnv({ api, name }: Engine, image: string): Promise<Readonly<Record<string, string>>> {
  try {
    const { Config } = await api.getImage(image).inspect()
    return Object.fromEntries((Config?.Env ?? []).map(assignment))
  } catch (cause) {
    if (!isMissing(cause)) throw new SandboxError({ message: `${name} can't read the image ${image}: ${reasonOf(cause)}`, cause })
    throw new SandboxError({
      message: `${name} has no image ${image}`,
      remedy: `Run mulligan sandbox pull, which fetches it, or set sandbox.image to one of those that ${name} images lists.`,
      cause,
    })
  }
}

function assignment(text: string): readonly [string, string] {
  const at = text.indexOf('=')
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}

/** What the image sets, under what the sandbox sets; its folders of programs come after the sandbox's. */
export function mergeEnv(image: Readonly<Record<string, string>>, own: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const path = [...new Set([own['PATH'], image['PATH']].flatMap((value) => value?.split(':') ?? []).filter((folder) => folder !== ''))]
  return { ...image, ...own, ...(path.length > 0 && { PATH: path.join(':') }) }
}

/** @throws SandboxError */
export async function pull({ api, name }: Engine, image: string, { signal, onProgress }: Omit<PullOptions, 'backend'>): Promise<void> {
  const fail = (cause: unknown) => {
    if (signal?.aborted) return new SandboxError({ message: `fetching ${image} was stopped`, cause })
    return new SandboxError({
      message: `${name} can't fetch ${image}: ${reasonOf(cause)}`,
      remedy: 'Look at the name and the network, or set sandbox.image to an image that is here already.',
      cause,
    })
  }
  try {
    const stream = await api.pull(withTag(image), { abortSignal: signal })
    await followed(api, stream, onProgress)
  } catch (cause) {
    throw fail(cause)
  }
}

/** Without a tag, Docker's API fetches all there are. */
const withTag = (image: string): string => (/[:@][^/]*$/.test(image) ? image : `${image}:latest`)

interface Progress {
  readonly id?: string
  readonly status?: string
  readonly error?: string
}

function followed(api: Dockerode, stream: NodeJS.ReadableStream, onProgress: PullOptions['onProgress']): Promise<void> {
  const said = new Map<string, string>()
  const tell = ({ id = '', status }: Progress) => {
    if (status === undefined || said.get(id) === status) return
    said.set(id, status)
    onProgress?.(id === '' ? status : `${id}: ${status}`)
  }
  return new Promise((resolve, reject) => {
    // Errors come in the stream, after a status of 200.
    const onEnd = (error: Error | null, events: readonly Progress[] = []) => {
      const failed = events.find((event) => event.error !== undefined)
      if (error) reject(error)
      else if (failed) reject(new Error(failed.error))
      else resolve()
    }
    api.modem.followProgress(stream, onEnd, tell)
  })
}
