/** Converts HTML to readable text in a worker that can be terminated. Pages too complex for that are reduced to bare text in one pass. */
import { Worker } from 'node:worker_threads'
import { ToolFailure } from '@mulligan/core'
import { untilAborted } from '../../until-aborted.ts'
import { tooDeep } from './plain-text.ts'
import type { Readable } from './readable.ts'

interface RenderOptions {
  readonly url: string
  readonly format: 'markdown' | 'text'
  readonly signal: AbortSignal
  /** Seconds until the worker is terminated. Default 10. */
  readonly seconds?: number
}

interface Rendered extends Readable {
  readonly notes: readonly string[]
}

/** The worker's input. */
export interface Work {
  readonly html: string
  readonly url: string
  readonly format: 'markdown' | 'text'
  /** Make a single pass without building a tree. */
  readonly isBare: boolean
}

const SECONDS = 10
const BARE_SECONDS = 20
const MEMORY_MB = 384

/**
 * Renders a page.
 * @throws ToolFailure for a page that cannot be processed even in one pass; the abort reason of the signal
 */
export async function render(html: string, { url, format, signal, seconds = SECONDS }: RenderOptions): Promise<Rendered> {
  const work = { html, url, format }
  const made = tooDeep(html) ? undefined : await inWorker({ ...work, isBare: false }, seconds, signal)
  if (made) return { ...made, notes: [] }
  // Also in a worker, because a malicious page must not block the process.
  const bare = await inWorker({ ...work, isBare: true }, BARE_SECONDS, signal)
  if (!bare) throw new ToolFailure('Converting the page to text took too long.', { errorType: 'unsupported', status: 'failed' })
  return { ...bare, notes: ['The page is too large or too deeply nested to convert: this is its plain text, without links.'] }
}

/** Returns undefined if the worker took too long, used too much memory or crashed. */
async function inWorker(workerData: Work, seconds: number, signal: AbortSignal): Promise<Readable | undefined> {
  signal.throwIfAborted()
  const limits = { resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB }, env: {}, execArgv: [], stdout: true, stderr: true }
  const program = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js', import.meta.url)
  const worker = new Worker(program, { workerData, ...limits })
  const { promise, resolve } = Promise.withResolvers<Readable | undefined>()
  const fail = (): void => resolve(undefined)
  const timer = setTimeout(fail, seconds * 1000)
  worker.once('message', resolve).once('error', fail).once('exit', fail)
  try {
    return await untilAborted(signal, () => promise)
  } finally {
    clearTimeout(timer)
    void worker.terminate()
  }
}
