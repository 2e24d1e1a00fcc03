/** Remembers the model that the user chose. This is state, not configuration: nobody edits it by hand. */
import { randomBytes } from 'node:crypto'
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Env } from '../common/env.ts'
import { UsageError } from '../common/errors.ts'
import { dataDir, openDataDir } from '../common/paths.ts'

export interface Remembered {
  readonly provider: string
  readonly name: string
  /** The server's address when the model was chosen: at another address the choice does not count. */
  readonly address: string
}

const FILE = 'model.json'
const VERSION = 1

/** Returns undefined if there is no file or it is damaged. */
export function readRemembered(env: Env): Remembered | undefined {
  try {
    const { version, provider, name, address } = JSON.parse(readFileSync(join(dataDir(env), FILE), 'utf8')) as Record<string, unknown>
    return version === VERSION && isText(provider) && isText(name) && isText(address) ? { provider, name, address } : undefined
  } catch {
    return undefined
  }
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

/** Writes the file atomically, even if two processes do it at once. @throws UsageError */
export function remember({ provider, name, address }: Remembered, env: Env): void {
  const { dir } = openDataDir(env)
  const made = join(dir, `${FILE}.${randomBytes(4).toString('hex')}`)
  try {
    writeFileSync(made, `${JSON.stringify({ version: VERSION, provider, name, address })}\n`, { mode: 0o600 })
    renameSync(made, join(dir, FILE))
  } catch (error) {
    rmSync(made, { force: true })
    throw new UsageError(`the choice can't be saved in ${dir}: ${(error as Error).message}`, 'Set MULLIGAN_DATA_DIR to a writable folder.')
  }
}
