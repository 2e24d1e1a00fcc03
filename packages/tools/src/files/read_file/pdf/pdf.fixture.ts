/** PDF files for the tests, written by hand. */
import { deflateSync } from 'node:zlib'

export interface PdfOptions {
  /** Lines of each page; a page without lines shows an image. */
  readonly pages: readonly (readonly string[])[]
  /** Additional entries of the trailer. */
  readonly trailer?: string
  /** Compressed content of every page, instead of its lines. */
  readonly packed?: Uint8Array
  /** Additional objects, numbered from 10. */
  readonly objects?: readonly (string | Buffer)[]
}

const stream = (dictionary: string, bytes: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from(`<< ${dictionary} /Length ${bytes.length} >>\nstream\n`), bytes, Buffer.from('\nendstream')])

const text = (lines: readonly string[]): string =>
  `BT /F1 12 Tf 14 TL 72 700 Td ${lines.map((line) => `(${line.replace(/[()\\]/g, '\\$&')}) Tj T*`).join(' ')} ET`

export function makePdf({ pages, trailer = '', packed, objects = [] }: PdfOptions): Buffer {
  const first = 10 + objects.length
  const numbers = pages.map((_, at) => first + at * 2)
  const all = new Map<number, string | Buffer>([
    [1, '<< /Type /Catalog /Pages 2 0 R >>'],
    [2, `<< /Type /Pages /Count ${pages.length} /Kids [${numbers.map((at) => `${at} 0 R`).join(' ')}] >>`],
    [3, '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>'],
    [4, stream('/Type /XObject /Subtype /Image /Width 1 /Height 1 /BitsPerComponent 8 /ColorSpace /DeviceGray', Buffer.from([128]))],
    ...objects.map((object, at): [number, string | Buffer] => [10 + at, object]),
  ])
  pages.forEach((lines, at) => {
    const number = first + at * 2
    all.set(
      number,
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${number + 1} 0 R /Resources << /Font << /F1 3 0 R >> /XObject << /I 4 0 R >> >> >>`,
    )
    const content = lines.length > 0 ? text(lines) : 'q 600 0 0 700 0 0 cm /I Do Q'
    all.set(number + 1, packed ? stream('/Filter /FlateDecode', packed) : stream('', Buffer.from(content)))
  })
  const parts: Buffer[] = [Buffer.from('%PDF-1.7\n')]
  const places: string[] = []
  let at = 9
  for (const [number, body] of all) {
    const part = Buffer.concat([Buffer.from(`${number} 0 obj\n`), Buffer.from(body), Buffer.from('\nendobj\n')])
    places.push(`${number} 1\n${String(at).padStart(10, '0')} 00000 n \n`)
    parts.push(part)
    at += part.length
  }
  parts.push(
    Buffer.from(
      `xref\n0 1\n0000000000 65535 f \n${places.join('')}trailer\n<< /Size ${first + pages.length * 2} /Root 1 0 R ${trailer} >>\nstartxref\n${at}\n%%EOF\n`,
    ),
  )
  return Buffer.concat(parts)
}

/** Encryption with a key that nobody has. */
export const LOCKED = `/ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>] /Encrypt << /Filter /Standard /V 1 /R 2 /P -44 /O <${'61'.repeat(32)}> /U <${'62'.repeat(32)}> >>`

/** Many megabytes of spaces, compressed to a few thousand bytes. */
export const bomb = (megabytes: number): Buffer => deflateSync(Buffer.alloc(megabytes * 1024 * 1024, ' '), { level: 9 })
