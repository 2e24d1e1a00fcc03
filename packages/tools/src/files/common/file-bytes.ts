/** Whole files: reading one to change it. */
import { openInside } from '../../workspace/contain.ts'
import type { Resolved } from '../../workspace/resolved.ts'

/** The bytes of a file of at most `most` bytes, or only how many there are. */
export async function readWhole(file: Resolved, most: number): Promise<{ readonly size: number; readonly bytes?: Buffer }> {
  const handle = await openInside(file.root, file.absolute)
  try {
    const { size } = await handle.stat()
    return size > most ? { size } : { size, bytes: await handle.readFile() }
  } finally {
    await handle.close()
  }
}
