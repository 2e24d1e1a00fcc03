/** Who may talk to the server: a token, the Host it was reached by, and the Origin of a browser's page. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { oneLine, UsageError } from '@mulligan/host/light'
import type { MiddlewareHandler } from 'hono'
import { ApiError } from './errors.ts'

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Compares in constant time, also for texts of different lengths. */
export const isSameToken = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b))

/** Returns the token in a file that only the user can read, creating it at the first start. */
export function tokenIn(file: string): { readonly token: string; readonly isNew: boolean } {
  const made = `mlg_${randomBytes(24).toString('base64url')}`
  const temporary = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`
  writeFileSync(temporary, `${made}\n`, { mode: 0o600, flag: 'wx' })
  try {
    // Fails if there is one, so that two servers that start at once use the same token.
    linkSync(temporary, file)
    return { token: made, isNew: true }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    const token = readFileSync(file, 'utf8').trim()
    if (token.length < 16) throw new Error(`${file} has no valid token. Delete it to get a new one.`)
    return { token, isNew: false }
  } finally {
    rmSync(temporary, { force: true })
  }
}

export const requireToken =
  (token: string): MiddlewareHandler =>
  async (c, next) => {
    const [, given] = /^Bearer +(\S+)$/i.exec(c.req.header('authorization') ?? '') ?? []
    if (given === undefined || !isSameToken(given, token)) {
      c.header('www-authenticate', 'Bearer')
      throw new ApiError(
        401,
        'unauthorized',
        given === undefined ? 'a token is needed' : 'the token is wrong',
        'Authorization: Bearer TOKEN',
      )
    }
    await next()
  }

export interface Reached {
  /** The host that the server is bound to. */
  readonly host: string
  readonly allowHosts: readonly string[]
  readonly allowOrigins: readonly string[]
}

const hostnameOf = (host: string): string | undefined => {
  const url = `http://${host}`
  return /^[\w.:[\]-]+$/.test(host) && URL.canParse(url) ? new URL(url).hostname.replace(/^\[(.*)\]$/, '$1') : undefined
}

export const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))

/** Reads the names and origins that are allowed: one that no request can have would be left unnoticed. @throws UsageError */
export function reachedBy({ host, allowHosts, allowOrigins }: Reached): Reached {
  return {
    host,
    allowHosts: allowHosts.map((given) => {
      const name = hostnameOf(given)
      if (name !== undefined && name === given.toLowerCase().replace(/^\[(.*)\]$/, '$1')) return name
      throw new UsageError(
        `--allow-host ${oneLine(given, 200)} is not a host name`,
        'Such as agent.example.com, without https:// and port.',
      )
    }),
    allowOrigins: allowOrigins.map((given) => {
      const { origin = '', pathname = '', search = '', hash = '' } = URL.canParse(given) ? new URL(given) : ({} as Partial<URL>)
      if (/^https?:/.test(origin) && `${pathname}${search}${hash}` === '/') return origin
      throw new UsageError(`--allow-origin ${oneLine(given, 200)} is not an origin`, 'Such as https://app.example.com, without a path.')
    }),
  }
}

/** Addresses that stand for all of a machine: nothing can connect to them everywhere. */
const EVERYWHERE = new Set(['0.0.0.0', '::'])

/** Returns the host under which people open the server. */
export function shownHost({ host, allowHosts }: Reached): string {
  const shown = EVERYWHERE.has(host) ? (allowHosts[0] ?? '127.0.0.1') : host
  return shown.includes(':') ? `[${shown}]` : shown
}

const corsFor = (origin: string): Record<string, string> => ({
  'access-control-allow-origin': origin,
  vary: 'origin',
  'access-control-allow-headers': 'authorization, content-type, idempotency-key, last-event-id',
  'access-control-allow-methods': 'GET, POST, PATCH, DELETE',
})

/**
 * Refuses requests under a host name that is not the server's, which is how a web page reaches a server behind the browser's back (DNS
 * rebinding), and requests from pages of other origins. An IP address can't be rebound, so those of this machine always count.
 */
export const checkReached =
  ({ host, allowHosts, allowOrigins }: Reached): MiddlewareHandler =>
  async (c, next) => {
    const given = c.req.header('host') ?? new URL(c.req.url).host
    const name = hostnameOf(given)
    const isOwn =
      name !== undefined && (isLoopback(name) || name === host || allowHosts.includes(name) || (isIP(name) !== 0 && !isLoopback(host)))
    if (!isOwn) throw new ApiError(403, 'host', 'this server does not answer under that host name', 'Start it with --allow-host NAME.')
    const origin = c.req.header('origin')
    const own = [`http://${given}`, `https://${given}`]
    if (origin !== undefined && !own.includes(origin)) {
      if (!allowOrigins.includes(origin))
        throw new ApiError(403, 'origin', 'pages of that origin may not use this server', 'Start it with --allow-origin ORIGIN.')
      if (c.req.method === 'OPTIONS') return c.body(null, 204, corsFor(origin))
      await next()
      // After the response was made: one that streams takes no headers that are set before.
      for (const [name, value] of Object.entries(corsFor(origin))) c.res.headers.set(name, value)
      return
    }
    return next()
  }

/** Headers of every response: nothing is framed, sniffed or cached, and a page runs only what the server itself serves. */
export const secureHeaders: MiddlewareHandler = async (c, next) => {
  await next()
  const { headers } = c.res
  headers.set('x-content-type-options', 'nosniff')
  headers.set('referrer-policy', 'no-referrer')
  headers.set('x-frame-options', 'DENY')
  headers.set('cross-origin-opener-policy', 'same-origin')
  headers.set('cross-origin-resource-policy', 'same-origin')
  if (!headers.has('cache-control')) headers.set('cache-control', 'no-store')
  headers.set(
    'content-security-policy',
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  )
}
