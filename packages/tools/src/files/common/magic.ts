/** Identifies files by their first bytes. */
export interface Magic {
  /** As a phrase: "a PNG image". */
  readonly what: string
  readonly mediaType: string
  /** A program that can open it, as a phrase. */
  readonly reader: string
}

const IMAGE = 'an image viewer, or a model that takes images'
const ARCHIVE = 'a program that unpacks it'
const PROGRAM = 'a disassembler'
const PLAYER = 'a media player'

type Row = readonly [offset: number, bytes: string, what: string, mediaType: string, reader: string]

const ROWS: readonly Row[] = [
  [0, '89504e470d0a1a0a', 'a PNG image', 'image/png', IMAGE],
  [0, 'ffd8ff', 'a JPEG image', 'image/jpeg', IMAGE],
  [0, '47494638', 'a GIF image', 'image/gif', IMAGE],
  [8, '57454250', 'a WebP image', 'image/webp', IMAGE],
  [0, '25504446', 'a PDF document', 'application/pdf', 'read_file'],
  [0, '504b0304', 'a ZIP archive (or an Office document)', 'application/zip', 'unzip, or the program of the document'],
  [0, '1f8b', 'gzip data', 'application/gzip', 'gunzip'],
  [0, '425a68', 'bzip2 data', 'application/x-bzip2', ARCHIVE],
  [0, 'fd377a585a00', 'xz data', 'application/x-xz', ARCHIVE],
  [0, '28b52ffd', 'zstd data', 'application/zstd', ARCHIVE],
  [0, '377abcaf271c', 'a 7-Zip archive', 'application/x-7z-compressed', ARCHIVE],
  [257, '7573746172', 'a tar archive', 'application/x-tar', 'tar'],
  [0, '53514c69746520666f726d6174203300', 'a SQLite database', 'application/vnd.sqlite3', 'sqlite3'],
  [0, '7f454c46', 'an ELF program', 'application/x-elf', PROGRAM],
  [0, 'cffaedfe', 'a Mach-O program', 'application/x-mach-binary', PROGRAM],
  [0, 'cafebabe', 'a Java class or Mach-O program', 'application/java-vm', PROGRAM],
  [0, '4d5a90', 'a Windows program', 'application/vnd.microsoft.portable-executable', PROGRAM],
  [0, '0061736d', 'a WebAssembly module', 'application/wasm', 'wasm-objdump'],
  [0, '494433', 'an MP3 recording', 'audio/mpeg', PLAYER],
  [0, '4f676753', 'an Ogg recording', 'audio/ogg', PLAYER],
  [8, '57415645', 'a WAV recording', 'audio/wav', PLAYER],
  [4, '66747970', 'an MP4 video', 'video/mp4', PLAYER],
  [0, '1a45dfa3', 'a Matroska or WebM video', 'video/webm', PLAYER],
]

/** How many bytes {@link magic} needs. */
export const HEAD_BYTES = 8192

export function magic(head: Uint8Array): Magic | undefined {
  for (const [offset, bytes, what, mediaType, reader] of ROWS) {
    const slice = Buffer.from(head.subarray(offset, offset + bytes.length / 2)).toString('hex')
    if (slice === bytes) return { what, mediaType, reader }
  }
  return undefined
}
