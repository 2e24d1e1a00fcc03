/** Returns a page of the text of a PDF. PDF pages are marked in the text; offset and limit count lines, as for every file. */
import { Worker } from 'node:worker_threads'
import { ToolFailure, type ToolOk } from '@mulligan/core'
import { untilAborted } from '../../../until-aborted.ts'
import { about } from '../../../workspace/errors.ts'
import { plural, size as sizeText } from '../../common/page.ts'
import { readAll } from '../../common/text-file.ts'
import { type OpenFile, pageOfText, pageResult, windowAt } from '../page.ts'

/** Maximum size of a PDF that is read. */
const PDF_BYTES = 50 * 1024 * 1024
const PDF_SECONDS = 20
const PDF_PAGES = 5000
const MEMORY = 512 * 1024 * 1024
const MAX_CHARS = 20 * 1024 * 1024
const WATCH_MS = 50
const TOOL = 'pdftotext'

export async function readPdf(open: OpenFile): Promise<ToolOk> {
  const { file, fd, size, call, signal } = open
  const refused = (what: string, reader: string): ToolFailure =>
    new ToolFailure(
      `"${file.relative}", a PDF document (${sizeText(size)}), ${what}. A person can read it with ${reader}.`,
      about('path', file.relative, 'a PDF with text that is not locked', { errorType: 'unsupported' }),
    )
  if (size > PDF_BYTES) throw refused(`is larger than the ${sizeText(PDF_BYTES)} that are read`, TOOL)
  const bytes = new Uint8Array(await readAll(fd))
  const pictures = hasPictures(bytes)
  // Reading from the end needs the text of all pages to know where to begin; reading from the start needs only enough to fill the page.
  const window = call.offset >= 0 ? windowAt(open, call.offset) : undefined
  let kept = ''
  let [came, failed, anyText] = [0, 0, false]
  const onPage = (page: PdfPage): boolean => {
    came = page.number
    if (page.text === undefined) failed++
    anyText ||= Boolean(page.text)
    if (window) window.push(pageText(page))
    else kept += pageText(page)
    // As long as there is no text, the pages may all be scans.
    return !window?.full() || !anyText
  }
  const { end, pages } = await extractPdf(bytes, { signal, onPage })
  if (end === 'encrypted') throw refused('is encrypted: it opens only with a password', 'qpdf --decrypt, given the password')
  if (end === 'too_long' && came === 0) throw refused('took too long to read', TOOL)
  if (end === 'too_much_memory' && came === 0) throw refused('took too much memory to read', TOOL)
  if (failed === came) throw refused('is broken: no page of it could be read', 'qpdf or mutool, which repair some')
  const all = plural(pages, 'page')
  if (!anyText && pictures) throw refused(`has no text: its ${all} are pictures, probably scanned`, 'OCR, such as ocrmypdf or tesseract')
  if (!anyText) throw refused(`has no text on its ${all}`, 'a PDF viewer')
  const notes = failed > 0 ? [`${plural(failed, 'page')} could not be read.`] : []
  if (end !== 'all' && end !== 'stopped')
    notes.push(`Partial: only the first ${came} of ${all} could be read${end === 'too_long' ? ` in ${PDF_SECONDS} s` : ''}.`)
  const result = { kind: { mediaType: 'application/pdf' }, whole: end === 'all', notes }
  return window ? pageResult(open, window, call.offset, result) : pageOfText(open, kept, result)
}

const pageText = ({ number, pages, text }: PdfPage): string =>
  `--- page ${number} of ${pages} ---\n${text === undefined ? '(this page could not be read)' : text === '' ? '(no text)' : text}\n`

/** In a PDF, an image is a dictionary that is never compressed. */
const hasPictures = (bytes: Uint8Array<ArrayBuffer>): boolean => /\/Subtype\s*\/Image\b/.test(Buffer.from(bytes.buffer).toString('latin1'))

/** Input of the worker thread. */
export interface ToWorker {
  readonly bytes: Uint8Array
  readonly maxPages: number
  readonly maxChars: number
}

export interface PdfPage {
  readonly number: number
  readonly pages: number
  /** `undefined` if this page could not be read. */
  readonly text: string | undefined
}

export interface PdfEnd {
  /** `all`: every page was passed on. `stopped`: the caller had enough. `cut`: there are more pages than are read. */
  readonly end: 'all' | 'stopped' | 'cut' | 'encrypted' | 'broken' | 'too_long' | 'too_much_memory'
  readonly pages: number
}

export interface ExtractOptions {
  readonly signal: AbortSignal
  readonly seconds?: number
  /** Memory limit of the thread in bytes. */
  readonly memory?: number
  readonly maxPages?: number
  readonly maxChars?: number
  /** Called for each page in order; return `false` to stop. */
  readonly onPage: (page: PdfPage) => unknown
}

/**
 * Reads the pages in a thread that is terminated when it takes too long, uses too much memory or is no longer needed.
 * @param bytes transferred to the thread; not to be used afterwards
 */
export async function extractPdf(bytes: Uint8Array<ArrayBuffer>, options: ExtractOptions): Promise<PdfEnd> {
  const { signal, seconds = PDF_SECONDS, memory = MEMORY, maxPages = PDF_PAGES, maxChars = MAX_CHARS, onPage } = options
  signal.throwIfAborted()
  // The worker file next to this one, in TypeScript or compiled like this file.
  const program = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js', import.meta.url)
  const worker = new Worker(program, {
    workerData: { bytes, maxPages, maxChars } satisfies ToWorker,
    transferList: [bytes.buffer],
    resourceLimits: { maxOldGenerationSizeMb: Math.ceil(memory / 1024 / 1024) },
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
  })
  const { promise, resolve } = Promise.withResolvers<PdfEnd>()
  let pages = 0
  const end = (how: PdfEnd['end']): void => {
    // Drops pages that the thread sent before it is terminated.
    worker.removeAllListeners('message')
    resolve({ end: how, pages })
  }
  worker.on('message', (message: PdfPage | PdfEnd) => {
    pages = message.pages
    if ('end' in message) end(message.end)
    else if (onPage(message) === false) end('stopped')
  })
  worker.on('error', (error: NodeJS.ErrnoException) => end(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'too_much_memory' : 'broken'))
  worker.on('exit', () => end('broken'))
  const stop = setTimeout(() => end('too_long'), seconds * 1000)
  // Memory outside the heap (decompressed streams) is not covered by the thread's own limit.
  const watch = setInterval(() => {
    worker.getHeapStatistics?.().then(
      ({ used_heap_size, external_memory }) => used_heap_size + external_memory > memory && end('too_much_memory'),
      () => undefined,
    )
  }, WATCH_MS)
  try {
    return await untilAborted(signal, () => promise)
  } finally {
    clearTimeout(stop)
    clearInterval(watch)
    await worker.terminate()
  }
}
