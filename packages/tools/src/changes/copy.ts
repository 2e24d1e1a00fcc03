import { createHash } from 'node:crypto'
import { fstatSync, fsync, readSync, writeFileSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'

/** Larger contents are copied in pieces of this size, and others get their turn in between. */
export const CHUNK = 1024 * 1024

/**
 * Reads an open file from its beginning, and writes it to `to`. Synchronous piece by piece: to hand a small file to another thread and
 * back takes ten times as long as to read it.
 */
export async function copyAndHash(from: number, to?: number): Promise<{ readonly hash: string; readonly size: number }> {
  const hash = createHash('sha256')
  const { size: expected } = fstatSync(from)
  const buffer = Buffer.allocUnsafe(Math.min(CHUNK, expected + 1))
  let size = 0
  for (;;) {
    const bytesRead = readSync(from, buffer, 0, buffer.length, size)
    if (bytesRead === 0) return { hash: hash.digest('hex'), size }
    const piece = buffer.subarray(0, bytesRead)
    hash.update(piece)
    if (to !== undefined) writeFileSync(to, piece)
    size += bytesRead
    if (bytesRead === CHUNK) await turn()
  }
}

/** Not synchronous: it waits for the disk, and several together for little longer than one. */
export const toDisk = (fd: number): Promise<void> =>
  new Promise((resolve, reject) => {
    fsync(fd, (error) => (error ? reject(error) : resolve()))
  })
