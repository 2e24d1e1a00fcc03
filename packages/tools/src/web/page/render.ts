/** Readable text of HTML, made in a worker that can be ended; of a page that it cannot cope with, what one pass gives. */
import { Worker } from 'node:worker_threads'
import { ToolFailure } from '@mulligan/core'
import { tooDeep } from './plain-text.ts'
import type { Readable } from './readable.ts'

export interface RenderOptions {
  readonly url: string
  readonly format: 'markdown' | 'text'
  readonly signal: AbortSignal
  /** Seconds until the worker is ended. Default 10. */
  readonly seconds?: number
}

export interface Rendered extends Readable {
  readonly notes: readonly string[]
}

/** What a worker is given. */
export interface Work {
  readonly html: string
  readonly url: string
  readonly format: 'markdown' | 'text'
  /** One pass over it, and no tree. */
  readonly isBare: boolean
}

const SECONDS = 10
const BARE_SECONDS = 20
const MEMORY_MB = 384
const WORKER = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js', import.meta.url)

/** @throws ToolFailure for a page that not even one pass gets through; what the signal was aborted with */
export async function render(html: string, { url, format, signal, seconds = SECONDS }: RenderOptions): Promise<Rendered> {
  const work = { html, url, format }
  const made = tooDeep(html) ? undefined : await inWorker({ ...work, isBare: false }, seconds, signal)
  if (made) return { ...made, notes: [] }
  // In a worker too: what a page is made to do must not hold up the process.
  const bare = await inWorker({ ...work, isBare: true }, BARE_SECONDS, signal)
  if (!bare) throw new ToolFailure('The page takes too long to be turned into text.', { errorType: 'unsupported', status: 'failed' })
  return { ...bare, notes: ['The page is too large or too deep to be laid out: this is its bare text, without links.'] }
}

/** `undefined` when it took too long or too much, or broke. */
function inWorker(workerData: Work, seconds: number, signal: AbortSignal): Promise<Readable | undefined> {
  signal.throwIfAborted()
  return new Promise((resolve, reject) => {
    const worker = new Worker(WORKER, {
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
      env: {},
      execArgv: [],
      stdout: true,
      stderr: true,
    })
    const end = (settle: () => void): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      void worker.terminate()
      settle()
    }
    const onAbort = (): void => end(() => reject(signal.reason))
    const timer = setTimeout(() => end(() => resolve(undefined)), seconds * 1000)
    signal.addEventListener('abort', onAbort, { once: true })
    worker.once('message', (made: Readable) => end(() => resolve(made)))
    worker.once('error', () => end(() => resolve(undefined)))
    worker.once('exit', () => end(() => resolve(undefined)))
  })
}
