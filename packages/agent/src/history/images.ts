/** Images that the user sends with a message. */

/** An image as it is kept in a message. */
export interface PromptImage {
  /** Its name for the user and the model: the path as the user wrote it. */
  readonly name: string
  /** `image/png`, `image/jpeg`, `image/gif` or `image/webp`. */
  readonly mediaType: string
  /** Base64. */
  readonly data: string
}

/** An image as events name it. */
export interface NamedImage extends Pick<PromptImage, 'name' | 'mediaType'> {
  readonly bytes: number
}

const BYTES_PER_CHARACTER = 3 / 4

export const namedImages = (images: readonly PromptImage[] = []): readonly NamedImage[] =>
  images.map(({ name, mediaType, data }) => ({ name, mediaType, bytes: Math.floor(data.replace(/=+$/, '').length * BYTES_PER_CHARACTER) }))

/** Returns the field of an event that names the images of a message; nothing if it has none. */
export const imagesNamed = ({ images = [] }: { readonly images?: readonly PromptImage[] }): { readonly images?: readonly NamedImage[] } =>
  images.length === 0 ? {} : { images: namedImages(images) }
