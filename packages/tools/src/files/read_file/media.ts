/** Files that are no text: as content where the model takes it, else what they are and what could read them. */
import { ok, ToolFailure, type ToolOk } from '@mulligan/core'
import type { Magic } from '../common/magic.ts'
import { size as sizeText } from '../common/page.ts'
import { imageSize } from './image-size.ts'
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
