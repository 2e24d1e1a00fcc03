/** Handles binary files: returns them as content if the model accepts it, otherwise says what they are and what could read them. */
import { ok, ToolFailure, type ToolOk } from '@mulligan/core'
import { about } from '../../workspace/errors.ts'
import type { Magic } from '../common/magic.ts'
import { size as sizeText } from '../common/page.ts'
import { readAll } from '../common/text-file.ts'
import type { OpenFile } from './page.ts'

export const takes = ({ limits, size }: OpenFile, { mediaType }: Magic): boolean =>
  limits.media.includes(mediaType) && size <= limits.mediaBytes

export async function asMedia({ file, fd, size, start }: OpenFile, is: Magic): Promise<ToolOk> {
  const { mediaType } = is
  const text = `${file.relative}: ${is.what}, ${facts(is, start, size)}`
  const data = (await readAll(fd)).toString('base64')
  return ok(
    { path: file.relative, bytes: size, mediaType, ...imageSize(mediaType, start) },
    {
      content: [
        { type: 'text', text },
        { type: 'media', mediaType, data },
      ],
    },
  )
}

export function unsupported({ file, size, start }: OpenFile, is: Magic | undefined): ToolFailure {
  const what = `${is?.what ?? 'a binary file'} (${is ? facts(is, start, size) : sizeText(size)})`
  return new ToolFailure(
    `"${file.relative}" is ${what}, not text. A person can read it with ${is?.reader ?? '"xxd" or "strings"'}.`,
    about('path', file.relative, 'a text file', { errorType: 'unsupported' }),
  )
}

function facts({ mediaType }: Magic, head: Buffer, size: number): string {
  const image = imageSize(mediaType, head)
  return image ? `${image.width} × ${image.height} pixels, ${sizeText(size)}` : sizeText(size)
}

interface ImageSize {
  readonly width: number
  readonly height: number
}

const SIZES: Readonly<Record<string, (head: Buffer) => ImageSize | undefined>> = {
  'image/png': (head) => ({ width: head.readUInt32BE(16), height: head.readUInt32BE(20) }),
  'image/gif': (head) => ({ width: head.readUInt16LE(6), height: head.readUInt16LE(8) }),
  'image/webp': (head) => {
    const form = head.toString('latin1', 12, 16)
    if (form === 'VP8X') return { width: head.readUIntLE(24, 3) + 1, height: head.readUIntLE(27, 3) + 1 }
    if (form === 'VP8 ') return { width: head.readUInt16LE(26) & 0x3fff, height: head.readUInt16LE(28) & 0x3fff }
    if (form !== 'VP8L') return undefined
    const bits = head.readUInt32LE(21)
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
  },
  // Skips segments up to the frame header; 0xc4, 0xc8 and 0xcc are not frames.
  'image/jpeg': (head) => {
    let at = 2
    while (head.readUInt8(at) === 0xff) {
      const marker = head.readUInt8(at + 1)
      if (marker === 0xff) at++
      else if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker))
        return { height: head.readUInt16BE(at + 5), width: head.readUInt16BE(at + 7) }
      else at += 2 + head.readUInt16BE(at + 2)
    }
    return undefined
  },
}

/** Returns the width and height of an image from its first bytes. */
function imageSize(mediaType: string, head: Buffer): ImageSize | undefined {
  try {
    return SIZES[mediaType]?.(head)
  } catch (error) {
    // The data ends before the position of the size.
    if (!(error instanceof RangeError)) throw error
    return undefined
  }
}
