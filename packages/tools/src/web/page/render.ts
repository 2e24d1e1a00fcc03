/** Readable text of HTML, made in a worker that can be ended; of a page that it cannot cope with, what one pass gives. */
import { Worker } from 'node:worker_threads'
import { plainText, titleIn, tooDeep } from './plain-text.ts'
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

const SECONDS = 10
const MEMORY_MB = 384
const WORKER = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js', import.meta.url)

export async function render(html: string, { url, format, signal, seconds = SECONDS }: RenderOptions): Promise<Rendered> {
  const made = tooDeep(html) ? undefined : await inWorker({ html, url, format }, seconds, signal)
  if (made) return { ...made, notes: [] }
  const note = 'The page is too large or too deep to be laid out: this is its bare text, without links.'
  return { title: titleIn(html), text: plainText(html), notes: [note] }
}

/** `undefined` when it took too long or too much, or broke. */
function inWorker(workerData: object, seconds: number, signal: AbortSignal): Promise<Readable | undefined> {
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
