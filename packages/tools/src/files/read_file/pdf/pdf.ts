/** A page of the text of a PDF. Its own pages are marked in the text; offset and limit count lines, as in every file. */
import { ToolFailure, type ToolOk } from '@mulligan/core'
import { plural, size as sizeText } from '../../common/page.ts'
import { type LineWindow, lineWindow } from '../line-window.ts'
import type { OpenFile } from '../open-file.ts'
import { fromStart, pageResult } from '../page.ts'
import { type Extracted, type ExtractOptions, extractPdf, PDF_SECONDS, type PdfPage } from './extract.ts'

/** The largest PDF that is read. */
const PDF_BYTES = 50 * 1024 * 1024

export type PdfLimits = Pick<ExtractOptions, 'seconds' | 'memory' | 'maxPages' | 'maxChars'> & { readonly bytes?: number }

export async function readPdf(open: OpenFile, limits: PdfLimits = {}): Promise<ToolOk> {
  const { file, handle, size, call, signal } = open
  const most = limits.bytes ?? PDF_BYTES
  if (size > most) throw refusal(open, `is larger than the ${sizeText(most)} that are read`, TOOL)
  const bytes = new Uint8Array(await handle.readFile())
  const pictures = hasPictures(bytes)
  const gathered = gather(open)
  const end = await extractPdf(bytes, { signal, ...limits, onPage: gathered.add })
  throwUnread(open, end, gathered, pictures)
  const { window, offset } = gathered.result()
  return pageResult({
    path: file.relative,
    window,
    asked: call.offset,
    offset,
    whole: end.end === 'all',
    about: { bytes: size, mediaType: 'application/pdf' },
    notes: notesOn(end, gathered.seen(), limits),
  })
}

interface Seen {
  /** Pages that came. */
  readonly pages: number
  /** Of these, pages that could not be read. */
  readonly failed: number
  readonly anyText: boolean
}

interface Gathered {
  /** False when the page asked for is full. */
  readonly add: (page: PdfPage) => boolean
  readonly seen: () => Seen
  readonly result: () => { readonly window: LineWindow; readonly offset: number }
}

/** From the end all texts are needed to know where to begin; from the start only as many as fill the page. */
function gather({ call, limits }: OpenFile): Gathered {
  const windowAt = (offset: number) => lineWindow({ offset, limit: call.limit, bytes: limits.pageBytes, chars: limits.lineChars })
  const kept: string[] = []
  const forwards = call.offset >= 0 ? windowAt(call.offset) : undefined
  let seen: Seen = { pages: 0, failed: 0, anyText: false }
  return {
    add(page) {
      const { text } = page
      seen = { pages: page.number, failed: seen.failed + (text === undefined ? 1 : 0), anyText: seen.anyText || Boolean(text) }
      if (forwards) forwards.push(pageText(page))
      else kept.push(pageText(page))
      // Until there is a text the pages may all be scanned.
      return !forwards?.full() || !seen.anyText
    },
    seen: () => seen,
    result() {
      if (forwards) return { window: forwards, offset: call.offset }
      const offset = fromStart(call.offset, kept.join('').split('\n').length - 1)
      const window = windowAt(offset)
      for (const text of kept) window.push(text)
      return { window, offset }
    },
  }
}

const pageText = ({ number, pages, text }: PdfPage): string =>
  `--- page ${number} of ${pages} ---\n${text === undefined ? '(this page could not be read)' : text === '' ? '(no text)' : text}\n`

const TOOL = 'pdftotext'

function throwUnread(open: OpenFile, { end, pages }: Extracted, gathered: Gathered, pictures: boolean): void {
  const { pages: came, failed, anyText } = gathered.seen()
  if (end === 'encrypted') throw refusal(open, 'is encrypted: it opens only with a password', 'qpdf --decrypt, given the password')
  if (end === 'too_long' && came === 0) throw refusal(open, 'took too long to read', TOOL)
  if (end === 'too_much_memory' && came === 0) throw refusal(open, 'took too much memory to read', TOOL)
  if (came === 0 || failed === came) throw refusal(open, 'is broken: no page of it could be read', 'qpdf or mutool, which repair some')
  if (anyText) return
  const all = plural(pages, 'page')
  if (pictures) throw refusal(open, `has no text: its ${all} are pictures, probably scanned`, 'OCR, such as ocrmypdf or tesseract')
  throw refusal(open, `has no text on its ${all}`, 'a PDF viewer')
}

const refusal = ({ file, size }: OpenFile, what: string, reader: string): ToolFailure =>
  new ToolFailure(`"${file.relative}", a PDF document (${sizeText(size)}), ${what}. A person can read it with ${reader}.`, {
    errorType: 'unsupported',
    status: 'failed',
    parameter: 'path',
    value: file.relative,
    constraint: 'a PDF with text that is not locked',
  })

function notesOn({ end, pages }: Extracted, { pages: came, failed }: Seen, { seconds = PDF_SECONDS }: PdfLimits): string[] {
  const notes = failed > 0 ? [`${plural(failed, 'page')} could not be read.`] : []
  const upTo = `Partial: only the first ${came} of ${plural(pages, 'page')} could be read`
  if (end === 'too_long') notes.push(`${upTo} in ${seconds} s.`)
  else if (end !== 'all' && end !== 'stopped') notes.push(`${upTo}.`)
  return notes
}

/** A picture stands in a file as a dictionary that is never packed. */
const hasPictures = (bytes: Uint8Array<ArrayBuffer>): boolean => /\/Subtype\s*\/Image\b/.test(Buffer.from(bytes.buffer).toString('latin1'))
