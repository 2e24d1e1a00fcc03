/** A file with a secret, which only its owner can read. */
import { rename, rm, writeFile } from 'node:fs/promises'

/** Replaces the file as a whole. */
export async function writeSecret(file: string, value: object): Promise<void> {
  const written = `${file}.${process.pid}.tmp`
  try {
    await writeFile(written, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
    await rename(written, file)
  } finally {
    await rm(written, { force: true })
  }
}
