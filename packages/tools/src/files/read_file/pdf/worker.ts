/** Extracts the text of a PDF in a separate thread, because the parser handles untrusted input and does not yield. */
import { parentPort, workerData } from 'node:worker_threads'
import type { PDFDocumentProxy } from 'unpdf/pdfjs'
import type { PdfEnd, PdfPage, ToWorker } from './pdf.ts'

const { bytes, maxPages, maxChars } = workerData as ToWorker
const post = (message: PdfPage | PdfEnd): void => parentPort?.postMessage(message)

/** Draws no fonts, shows no images and fetches nothing. */
const QUIET = { verbosity: 0, isEvalSupported: false, disableFontFace: true, useSystemFonts: false, isOffscreenCanvasSupported: false }

const { getDocument } = await import('unpdf/pdfjs')
await getDocument({ data: bytes, ...QUIET })
  .promise.then(readPages)
  .catch((error: unknown) => {
    post({ end: error instanceof Error && error.name === 'PasswordException' ? 'encrypted' : 'broken', pages: 0 })
  })

async function readPages(document: PDFDocumentProxy): Promise<void> {
  const pages = document.numPages
  let chars = 0
  for (let number = 1; number <= pages; number++) {
    if (number > maxPages || chars > maxChars) return post({ end: 'cut', pages })
    const text = await textOf(document, number).catch(() => undefined)
    chars += text?.length ?? 0
    post({ number, pages, text })
  }
  post({ end: 'all', pages })
}

async function textOf(document: PDFDocumentProxy, number: number): Promise<string> {
  const page = await document.getPage(number)
  const { items } = await page.getTextContent()
  page.cleanup()
  const text = items.map((item) => ('str' in item ? item.str + (item.hasEOL ? '\n' : '') : '')).join('')
  return text.replace(/[ \t]+$/gm, '').trim()
}
