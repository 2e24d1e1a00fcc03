/** The pages of a PDF as text, read in a thread that is ended when it takes too long, too much memory, or is not needed any more. */
import { Worker } from 'node:worker_threads'

/** What the thread is given. */
export interface ToWorker {
  readonly bytes: Uint8Array
  readonly maxPages: number
  readonly maxChars: number
}

/** What it sends. */
export type FromWorker =
  | { readonly type: 'opened'; readonly pages: number }
  /** Without a text the page could not be read. */
  | { readonly type: 'page'; readonly number: number; readonly text: string | undefined }
  /** `cut`: there are more pages than are read. */
  | { readonly type: 'ended'; readonly cut: boolean }
  | { readonly type: 'refused'; readonly why: 'encrypted' | 'broken' }

export interface ExtractOptions {
  readonly signal: AbortSignal
  readonly seconds?: number
  /** Bytes that the thread may hold. */
  readonly memory?: number
  readonly maxPages?: number
  readonly maxChars?: number
  /** Called for each page in order; `false` ends the reading. */
  readonly onPage: (page: PdfPage) => unknown
}

export interface PdfPage {
  readonly number: number
  readonly pages: number
  /** `undefined` when this page could not be read. */
  readonly text: string | undefined
}

export type Extracted =
  /** `all`: every page was passed on. `stopped`: the caller had enough. `cut`: there are more pages than are read. */
  | { readonly end: 'all' | 'stopped' | 'cut'; readonly pages: number }
  | { readonly end: 'encrypted' | 'broken' | 'too_long' | 'too_much_memory'; readonly pages: number }

export const PDF_SECONDS = 20
export const PDF_PAGES = 5000
const MEMORY = 512 * 1024 * 1024
const MAX_CHARS = 20 * 1024 * 1024
const WATCH_MS = 50

/** The thread runs this file's neighbour, in TypeScript or compiled, as this file itself is. */
const WORKER = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js', import.meta.url)

/** @param bytes handed over: not to be used afterwards */
export async function extractPdf(bytes: Uint8Array<ArrayBuffer>, options: ExtractOptions): Promise<Extracted> {
  const { signal, seconds = PDF_SECONDS, memory = MEMORY, maxPages = PDF_PAGES, maxChars = MAX_CHARS, onPage } = options
  signal.throwIfAborted()
  const worker = new Worker(WORKER, {
    workerData: { bytes, maxPages, maxChars } satisfies ToWorker,
    transferList: [bytes.buffer],
    resourceLimits: { maxOldGenerationSizeMb: Math.ceil(memory / 1024 / 1024) },
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
  })
  let pages = 0
  let watch: NodeJS.Timeout | undefined
  let stop: NodeJS.Timeout | undefined
  try {
    return await new Promise<Extracted>((resolve, reject) => {
      // Pages that the thread sent before it is terminated are dropped.
      const end = (how: Extracted['end']): void => {
        worker.removeAllListeners('message')
        resolve({ end: how, pages })
      }
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      stop = setTimeout(() => end('too_long'), seconds * 1000)
      // What is outside of the heap (unpacked streams) is not under the thread's own limit.
      watch = setInterval(() => {
        worker.getHeapStatistics?.().then(
          ({ used_heap_size, external_memory }) => used_heap_size + external_memory > memory && end('too_much_memory'),
          () => undefined,
        )
      }, WATCH_MS)
      worker.on('message', (message: FromWorker) => {
        if (message.type === 'opened') pages = message.pages
        else if (message.type === 'refused') end(message.why)
        else if (message.type === 'ended') end(message.cut ? 'cut' : 'all')
        else if (onPage({ number: message.number, pages, text: message.text }) === false) end('stopped')
      })
      worker.on('error', (error: NodeJS.ErrnoException) => {
        end(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'too_much_memory' : 'broken')
      })
      worker.on('exit', () => end('broken'))
    })
  } finally {
    clearTimeout(stop)
    clearInterval(watch)
    await worker.terminate()
  }
}
