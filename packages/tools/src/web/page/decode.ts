/** Decodes bytes to text, using the charset that the page declares. */

interface Decoded {
  readonly text: string
  readonly notes: readonly string[]
}

/** Bytes within which a page may declare its charset, by the HTML standard. */
const META_BYTES = 1024

/** Decodes bytes. The charset comes from the byte order mark, else the header, else the page itself, else UTF-8. */
export function decode(bytes: Uint8Array, contentType: string): Decoded {
  const said = bomOf(bytes) ?? charsetIn(contentType) ?? declared(bytes)
  const known = said === undefined ? 'utf-8' : labelOf(said)
  const notes = known === undefined ? [`The charset ${JSON.stringify(said?.slice(0, 40))} is not known; read as UTF-8.`] : []
  const text = new TextDecoder(known ?? 'utf-8').decode(bytes)
  const damaged = text.includes('\ufffd')
  const encoding = (known ?? 'utf-8').toUpperCase()
  return { text, notes: damaged ? [...notes, `Some characters could not be read as ${encoding} and are shown as \ufffd.`] : notes }
}

function bomOf([a, b, c]: Uint8Array): string | undefined {
  if (a === 0xef && b === 0xbb && c === 0xbf) return 'utf-8'
  if (a === 0xfe && b === 0xff) return 'utf-16be'
  return a === 0xff && b === 0xfe ? 'utf-16le' : undefined
}

const charsetIn = (contentType: string): string | undefined => /;\s*charset\s*=\s*["']?([^\s"';,]+)/i.exec(contentType)?.[1]

function declared(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, META_BYTES)).toString('latin1')
  const said =
    /<meta[^>]{0,200}?charset\s*=\s*["']?\s*([^\s"'/>;]+)/i.exec(head)?.[1] ?? /^<\?xml[^>]{0,200}encoding=["']([^"']+)/.exec(head)?.[1]
  // A declaration readable as ASCII proves that the page is not UTF-16.
  return said && /^utf-?16/i.test(said) ? 'utf-8' : said
}

function labelOf(label: string): string | undefined {
  try {
    return new TextDecoder(label).encoding
  } catch {
    return undefined
  }
}
