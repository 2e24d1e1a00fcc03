/** The server that `--server` or `MULLIGAN_SERVER` names: its address, its token, its sessions, and what went wrong with it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Env, oneLine, UsageError } from '@mulligan/host/light'
import { type Client, createClient, ServerError, type Session } from '@mulligan/server/client'
import { openDataDir, version } from '../paths.ts'
import { safe } from './safe.ts'

export interface Remote {
  readonly url: string
  readonly client: Client
}

/** Connects to a server, and checks that it is one that this command can use. @throws UsageError */
export async function connect(url: string, env: Env, insecure = env['MULLIGAN_INSECURE'] === '1'): Promise<Remote> {
  const { protocol, hostname, username, password } = URL.canParse(url) ? new URL(url) : ({} as Partial<URL>)
  if ((protocol !== 'http:' && protocol !== 'https:') || username || password)
    throw new UsageError(`${oneLine(url, 200)} is not the address of a server`, 'Such as MULLIGAN_SERVER=http://127.0.0.1:4711.')
  const token = tokenFor(hostname ?? '', env)
  // As for a server that listens there: without TLS, whoever can read the network has the token.
  if (protocol === 'http:' && !isLocal(hostname ?? '') && !insecure)
    throw new UsageError(
      `the token would go to ${oneLine(url, 200)} unencrypted, and others on the network could read it`,
      'Use https://, or a tunnel (ssh -L 4711:127.0.0.1:4711 HOST). In a network that you trust: --insecure, or MULLIGAN_INSECURE=1.',
    )
  const client = createClient({ url, token })
  const health = await told(
    url,
    client.health().catch((error: unknown) => {
      throw error instanceof ServerError && error.status > 0 && error.status !== 403 ? notOurs(url) : error
    }),
  )
  if (typeof health?.version !== 'string') throw notOurs(url)
  if (series(health.version) !== series(version()))
    throw new UsageError(
      `the server at ${url} is Mulligan ${oneLine(health.version, 40)}, and this command is ${version()}`,
      'Use the same version on both sides.',
    )
  return { url, client }
}

/** Versions of the same series understand each other: before 1.0.0 those with the same minor version. */
const series = (text: string): string => {
  const [major = '', minor = ''] = text.split('.')
  return major === '0' ? `0.${minor}` : major
}

const isLocal = (hostname: string): boolean => hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d+){3}$/.test(hostname)

/** The token of this user's own server is sent to this machine only. */
function tokenFor(hostname: string, env: Env): string {
  const given = env['MULLIGAN_TOKEN']?.trim()
  if (given) return given
  const hint = 'Set MULLIGAN_TOKEN to the token that mulligan serve prints at its first start.'
  if (!isLocal(hostname)) throw new UsageError(`the server at ${oneLine(hostname, 200)} needs a token`, hint)
  const file = join(openDataDir().dir, 'server-token')
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    throw new UsageError('the server needs a token', hint)
  }
}

const notOurs = (url: string): UsageError =>
  new UsageError(`${url} is not a Mulligan server`, 'Check MULLIGAN_SERVER or --server. Without either, the command works in this process.')

/** Turns what a server refuses into what the person can do. @throws UsageError */
export async function told<T>(url: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw error instanceof ServerError ? usageErrorOf(url, error) : error
  }
}

function usageErrorOf(url: string, { status, type, message, hint }: ServerError): UsageError {
  if (status === 0)
    return new UsageError(
      `the server at ${url} can't be reached`,
      'Start it with mulligan serve. Without MULLIGAN_SERVER and --server, the command works in this process.',
    )
  if (status === 401) return new UsageError(`the server at ${url} refuses the token`, 'Set MULLIGAN_TOKEN to the token of that server.')
  if (type === 'unknown') return notOurs(url)
  return new UsageError(`the server at ${url}: ${oneLine(message, 500)}`, oneLine(hint ?? 'See its log for details.', 500))
}

/** Finds a session by its id or an unambiguous beginning of it; `undefined` stands for the latest of a folder. @throws UsageError */
export async function remoteSession({ url, client }: Remote, asked: string | undefined, cwd: string): Promise<Session> {
  const query = asked === undefined ? { cwd, limit: 1 } : { limit: 1000 }
  const { sessions } = safe(await told(url, client.call('GET /api/sessions', { query })))
  const found = asked === undefined ? sessions : sessions.filter(({ id }) => id === asked || (asked !== '' && id.startsWith(asked)))
  const [only, another] = found
  const exact = found.find(({ id }) => id === asked)
  if (exact) return exact
  if (only && another === undefined) return only
  if (asked === undefined) throw new UsageError(`there is no session in ${cwd} on ${url} yet`, '--cwd names another folder of the server.')
  throw new UsageError(
    `${only ? 'several sessions' : 'no session'} on ${url} begin${only ? '' : 's'} with ${oneLine(asked, 80)}`,
    only
      ? `Use more of the id: ${found
          .slice(0, 5)
          .map(({ id }) => id)
          .join(', ')}`
      : '--last continues the latest of this folder.',
  )
}
