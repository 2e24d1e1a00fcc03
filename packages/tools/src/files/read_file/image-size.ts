/** Width and height of an image by its first bytes. */
export interface ImageSize {
  readonly width: number
  readonly height: number
}

export function imageSize(mediaType: string, head: Buffer): ImageSize | undefined {
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
