/** Reads the images that a user names in a message, by what they contain and not by their names. */
import { resolve } from 'node:path'
import type { PromptImage } from '@mulligan/agent'
import { magic } from '@mulligan/tools'
import { UsageError } from './errors.ts'
import { readBytes } from './regular-file.ts'
import { oneLine } from './sanitize.ts'

/** The image types that models take. */
export const IMAGE_TYPES: readonly string[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']
/** Largest image that is sent, in bytes: in base64 it stays below the 5 MB that providers allow. */
export const MAX_IMAGE_BYTES = 3.5 * 1024 * 1024
const MAX_IMAGES = 10
/** Bytes that show what a file is. */
const HEAD = 32

export interface NamedImages {
  readonly images: readonly PromptImage[]
  /** Images that are not sent, and why: sentences for the user. */
  readonly problems: readonly string[]
}

/**
 * @param paths as the user wrote them, relative to `cwd`; those that are no images are left alone
 * @param attached how many images the message has besides
 */
export function readImages(cwd: string, paths: readonly string[], attached = 0): NamedImages {
  const images: PromptImage[] = []
  const problems: string[] = []
  for (const name of paths) {
    const read = readImage(cwd, name)
    if ('noImage' in read) continue
    if (attached + images.length === MAX_IMAGES) problems.push(`${name} is not sent: ${TOO_MANY}.`)
    else if ('unsent' in read) problems.push(`${name} is not sent: ${read.unsent}`)
    else images.push(read)
  }
  return { images, problems }
}

/** Reads images that are to be sent in any case. @param paths relative to `cwd` @throws UsageError for one that can't be sent */
export function readAttached(cwd: string, paths: readonly string[]): readonly PromptImage[] {
  if (paths.length > MAX_IMAGES) throw new UsageError(`${paths.length} images are attached; ${TOO_MANY}`, 'Send the others later.')
  return paths.map((path) => {
    const read = readImage(cwd, path)
    if ('noImage' in read) throw new UsageError(`${oneLine(path, 200)} can't be attached: ${read.noImage}`, KINDS)
    if ('unsent' in read) throw new UsageError(`${oneLine(path, 200)} can't be attached: ${read.unsent}`, KINDS)
    return read
  })
}

const TOO_MANY = `a message can have ${MAX_IMAGES} images`
const KINDS = `Images are PNG, JPEG, GIF and WebP files of at most ${MAX_IMAGE_BYTES / 1024 / 1024} MB. Repeat the flag for several.`

/** `noImage` and `unsent` say why. */
function readImage(cwd: string, name: string): PromptImage | { readonly noImage: string } | { readonly unsent: string } {
  const path = resolve(cwd, name)
  const head = readBytes(path, HEAD)
  if (head.kind !== 'bytes') return { noImage: head.kind === 'absent' ? 'there is no such file' : head.why }
  const mediaType = magic(head.bytes)?.mediaType
  if (mediaType === undefined || !IMAGE_TYPES.includes(mediaType)) return { noImage: 'it does not contain an image that models take' }
  const file = readBytes(path, MAX_IMAGE_BYTES)
  if (file.kind !== 'bytes') return { unsent: 'it could not be read.' }
  if (!file.isWhole) return { unsent: `it is larger than ${MAX_IMAGE_BYTES / 1024 / 1024} MB. Scale it down.` }
  return { name, mediaType, data: file.bytes.toString('base64') }
}
