/** Reads the images that a user names in a message, by what they contain and not by their names. */
import { resolve } from 'node:path'
import type { PromptImage } from '@mulligan/agent'
import { magic } from '@mulligan/tools'
import { readBytes } from './regular-file.ts'

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

/** @param paths as the user wrote them, relative to `cwd`; those that are no images are left alone */
export function readImages(cwd: string, paths: readonly string[]): NamedImages {
  const images: PromptImage[] = []
  const problems: string[] = []
  for (const name of paths) {
    const path = resolve(cwd, name)
    const head = readBytes(path, HEAD)
    const mediaType = head.kind === 'bytes' ? magic(head.bytes)?.mediaType : undefined
    if (mediaType === undefined || !IMAGE_TYPES.includes(mediaType)) continue
    const file = readBytes(path, MAX_IMAGE_BYTES)
    if (images.length === MAX_IMAGES) problems.push(`${name} is not sent: a message takes ${MAX_IMAGES} images.`)
    else if (file.kind !== 'bytes') problems.push(`${name} is not sent: it could not be read.`)
    else if (!file.isWhole) problems.push(`${name} is not sent: it is larger than ${MAX_IMAGE_BYTES / 1024 / 1024} MB. Scale it down.`)
    else images.push({ name, mediaType, data: file.bytes.toString('base64') })
  }
  return { images, problems }
}
