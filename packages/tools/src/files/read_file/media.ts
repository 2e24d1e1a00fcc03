/** Files that are no text: as content where the model takes it, else what they are and what could read them. */
import { ok, ToolFailure, type ToolOk } from '@mulligan/core'
import type { Magic } from '../common/magic.ts'
import { size as sizeText } from '../common/page.ts'
import type { OpenFile } from './open-file.ts'

export const takes = ({ limits, size }: OpenFile, { mediaType }: Magic): boolean =>
  limits.media.includes(mediaType) && size <= limits.mediaBytes

export async function asMedia({ file, handle, size }: OpenFile, is: Magic, head: Buffer): Promise<ToolOk> {
  const bytes = await handle.readFile()
  return ok(
    { path: file.relative, bytes: size, mediaType: is.mediaType, ...imageSize(is.mediaType, head) },
    {
      content: [
        { type: 'text', text: `${file.relative}: ${is.what}, ${facts(is, head, size)}` },
        { type: 'media', mediaType: is.mediaType, data: bytes.toString('base64') },
      ],
    },
  )
}

export function unsupported({ file, size }: OpenFile, is: Magic | undefined, head: Buffer): ToolFailure {
  const what = `${is?.what ?? 'a binary file'} (${is ? facts(is, head, size) : sizeText(size)})`
  const reader = is?.reader ?? '"xxd" or "strings"'
  return new ToolFailure(`"${file.relative}" is ${what}, not text. A person can read it with ${reader}.`, {
    errorType: 'unsupported',
    status: 'failed',
    parameter: 'path',
    value: file.relative,
    constraint: 'a text file',
  })
}

function facts({ mediaType }: Magic, head: Buffer, size: number): string {
  const image = imageSize(mediaType, head)
  return image ? `${image.width} × ${image.height} pixels, ${sizeText(size)}` : sizeText(size)
}

interface ImageSize {
  readonly width: number
  readonly height: number
}

/** Width and height of an image by its first bytes. */
function imageSize(mediaType: string, head: Buffer): ImageSize | undefined {
  try {
    if (mediaType === 'image/png') return { width: head.readUInt32BE(16), height: head.readUInt32BE(20) }
    if (mediaType === 'image/gif') return { width: head.readUInt16LE(6), height: head.readUInt16LE(8) }
    if (mediaType === 'image/webp') return webp(head)
    if (mediaType === 'image/jpeg') return jpeg(head)
  } catch (error) {
    // Cut off before the place where it stands.
    if (!(error instanceof RangeError)) throw error
  }
  return undefined
}

function webp(head: Buffer): ImageSize | undefined {
  const form = head.toString('latin1', 12, 16)
  if (form === 'VP8X') return { width: head.readUIntLE(24, 3) + 1, height: head.readUIntLE(27, 3) + 1 }
  if (form === 'VP8 ') return { width: head.readUInt16LE(26) & 0x3fff, height: head.readUInt16LE(28) & 0x3fff }
  if (form !== 'VP8L') return undefined
  const bits = head.readUInt32LE(21)
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
}

/** Segments up to the frame header; 0xc4, 0xc8 and 0xcc are other things than frames. */
function jpeg(head: Buffer): ImageSize | undefined {
  let at = 2
  while (head.readUInt8(at) === 0xff) {
    const marker = head.readUInt8(at + 1)
    if (marker === 0xff) at++
    else if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker))
      return { height: head.readUInt16BE(at + 5), width: head.readUInt16BE(at + 7) }
    else at += 2 + head.readUInt16BE(at + 2)
  }
  return undefined
}
