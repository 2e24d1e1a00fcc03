/** Takes the text out of a PDF, in a thread of its own: the parser works on hostile input and does not pause. */
import { parentPort, workerData } from 'node:worker_threads'
import type { PDFDocumentProxy } from 'unpdf/pdfjs'
import type { FromWorker, ToWorker } from './extract.ts'

const { bytes, maxPages, maxChars } = workerData as ToWorker
const post = (message: FromWorker): void => parentPort?.postMessage(message)

/** No font is drawn and no picture is shown; nothing is fetched. */
const QUIET = { verbosity: 0, isEvalSupported: false, disableFontFace: true, useSystemFonts: false, isOffscreenCanvasSupported: false }

const { getDocument } = await import('unpdf/pdfjs')
await getDocument({ data: bytes, ...QUIET })
  .promise.then(readPages)
  .catch((error: unknown) => {
    post({ type: 'refused', why: error instanceof Error && error.name === 'PasswordException' ? 'encrypted' : 'broken' })
  })

async function readPages(document: PDFDocumentProxy): Promise<void> {
  const pages = document.numPages
  post({ type: 'opened', pages })
  let chars = 0
  for (let number = 1; number <= pages; number++) {
    if (number > maxPages || chars > maxChars) {
      post({ type: 'ended', cut: true })
      return
    }
    const text = await textOf(document, number).catch(() => undefined)
    chars += text?.length ?? 0
    post({ type: 'page', number, text })
  }
  post({ type: 'ended', cut: false })
}

async function textOf(document: PDFDocumentProxy, number: number): Promise<string> {
  const page = await document.getPage(number)
  const { items } = await page.getTextContent()
  page.cleanup()
  const text = items.map((item) => ('str' in item ? item.str + (item.hasEOL ? '\n' : '') : '')).join('')
  return text.replace(/[ \t]+$/gm, '').trim()
}
