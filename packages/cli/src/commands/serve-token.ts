/** The token of `mulligan serve`: from a flag, a file, stdin or the environment. */
import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { type Env, oneLine, UsageError } from '@mulligan/host/light'

export interface TokenFlags {
  readonly token?: string
  /** A path, or `-` for stdin. */
  readonly tokenFile?: string
}

/** Returns the token that was given, or undefined: then it is the one in the data folder. @throws UsageError */
export async function tokenFrom({ token, tokenFile }: TokenFlags, env: Env): Promise<string | undefined> {
  if (token !== undefined) return token
  if (tokenFile === undefined) return env['MULLIGAN_TOKEN']?.trim() || undefined
  const [line = ''] = (tokenFile === '-' ? await text(process.stdin) : contentOf(tokenFile)).trim().split(/\r?\n/)
  if (line === '') throw new UsageError('the token is empty', 'The first line of the file must be the token.')
  return line.trim()
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new UsageError(
      `${oneLine(path, 400)} can't be read: ${(error as NodeJS.ErrnoException).code}`,
      'Name a readable file, or - for stdin.',
    )
  }
}

export const VISIBLE =
  'Other users of this machine can see --token in the list of processes. --token-file FILE, - for stdin, or MULLIGAN_TOKEN hides it.'

/** Whether other people may have an account here: undefined users are not people, nor are those without a shell. */
export function hasOtherUsers(platform: NodeJS.Platform, passwd: () => string): boolean {
  // Windows shows command lines to administrators only; macOS keeps its users elsewhere.
  if (platform === 'win32') return false
  if (platform === 'darwin') return true
  try {
    const people = passwd()
      .split('\n')
      .filter((line) => {
        const [, , id, , , , shell = ''] = line.split(':')
        return Number(id) >= 1000 && Number(id) < 65_534 && !/(?:nologin|false)$/.test(shell)
      })
    return people.length > 1
  } catch {
    return true
  }
}
