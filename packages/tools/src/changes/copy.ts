import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'

const CHUNK = 1024 * 1024

/** Reads a file from its beginning, in pieces, and writes it to `to`. */
export async function copyAndHash(from: FileHandle, to?: FileHandle): Promise<{ readonly hash: string; readonly size: number }> {
  const hash = createHash('sha256')
  const { size: expected } = await from.stat()
  const buffer = Buffer.allocUnsafe(Math.min(CHUNK, expected + 1))
  let size = 0
  for (;;) {
    const { bytesRead } = await from.read(buffer, 0, buffer.length, size)
    if (bytesRead === 0) return { hash: hash.digest('hex'), size }
    const piece = buffer.subarray(0, bytesRead)
    hash.update(piece)
    await to?.writeFile(piece)
    size += bytesRead
  }
}
