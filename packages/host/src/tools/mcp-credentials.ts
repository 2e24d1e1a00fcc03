/** Keeps the logins to MCP servers in a file that only the user can read. */
import { chmodSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { CredentialStore, Credentials } from '@mulligan/mcp'
import type { Env } from '../common/env.ts'
import { UsageError } from '../common/errors.ts'
import { isObject } from '../common/is-object.ts'
import { openDataDir } from '../common/paths.ts'
import { changing, replaceFile } from '../common/write.ts'

export function credentialStore(env: Env): CredentialStore {
  const path = (): string => join(openDataDir(env).dir, 'mcp-credentials.json')
  return {
    read: async () => readCredentials(path()),
    change: (change) =>
      changing(path(), async () => {
        const now = readCredentials(path())
        const next = await change(now)
        if (next !== now) await replaceFile(path(), JSON.stringify({ version: 1, ...next }))
      }),
  }
}

/** @throws UsageError */
function readCredentials(path: string): Credentials {
  let text: string
  try {
    // A file that others can read has been copied or restored.
    if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600)
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { clients: {}, logins: {} }
    throw new UsageError(`the logins in ${path} can't be read: ${(error as Error).message}`, 'Make the file readable, or delete it.')
  }
  const stored = parsed(text)
  if (!isObject(stored) || !isObject(stored['clients']) || !isObject(stored['logins']))
    throw new UsageError(`${path} is damaged`, 'Delete it, and log in again with mulligan mcp login NAME.')
  const { clients, logins } = stored as unknown as Credentials
  return { clients, logins }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
