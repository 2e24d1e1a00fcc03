/** Saves results that are too long, so that the model can read them in pages. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sha256 } from './sha256.ts'
import { OUTPUT_PREFIX } from './workspace/paths.ts'

const MAX_NAME = 100

/**
 * Returns a function that saves a text under `dir` (mode 0600) and returns the path for `read_file` and `grep`.
 *
 * @example
 * const spill = createSpill('/var/lib/app/outputs')
 * await spill('…', 's1/t1/2/0') // → '@output/s1-t1-2-0.5f1c….txt'
 */
export function createSpill(dir: string): (text: string, callId: string) => Promise<string> {
  return async (text, callId) => {
    const name = `${fileName(callId)}.txt`
    await mkdir(dir, { recursive: true, mode: 0o700 })
    await writeFile(join(dir, name), text, { mode: 0o600 })
    return OUTPUT_PREFIX + name
  }
}

/** Converts the id to a file name. An id that has to be changed gets a hash, so that two ids never share a file. */
function fileName(callId: string): string {
  const safe = callId
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[.-]+/, '')
    .slice(0, MAX_NAME)
  if (safe === callId && safe !== '') return safe
  return `${safe || 'call'}.${sha256(callId).slice(0, 12)}`
}
