/** `mulligan serve`: serves sessions over HTTP until it is interrupted. */
import { readFileSync } from 'node:fs'
import { oneLine, safeJson, UsageError } from '@mulligan/host/light'
import { serve } from '@mulligan/server'
import { version } from '../paths.ts'
import { EXIT, watchInterrupts } from '../process.ts'
import type { Output } from '../ui/output.ts'
import { hasOtherUsers, type TokenFlags, tokenFrom, VISIBLE } from './serve-token.ts'

export interface ServeHttpFlags extends TokenFlags {
  readonly host?: string
  readonly port?: number
  readonly store?: string
  readonly allowHost?: readonly string[]
  readonly allowOrigin?: readonly string[]
  readonly cert?: string
  readonly key?: string
  readonly public?: boolean
  readonly json?: boolean
}

/** Milliseconds that running turns have to end after an interrupt. */
const GRACE = 10_000

/** @returns 0 when it was interrupted. @throws UsageError */
export async function serveHttp(flags: ServeHttpFlags, output: Output): Promise<number> {
  const { host, port, store, allowHost, allowOrigin, cert, key } = flags
  if ((cert === undefined) !== (key === undefined))
    throw new UsageError('TLS needs both --cert and --key', 'Give the paths of two PEM files.')
  const token = await tokenFrom(flags, process.env)
  if (flags.token !== undefined && hasOtherUsers(process.platform, () => readFileSync('/etc/passwd', 'utf8'))) output.err(`${VISIBLE}\n`)
  // What it runs gets its environment, and has no business with the token.
  const { MULLIGAN_TOKEN: _, ...env } = process.env
  const server = await serve({
    ...{ env, cwd: process.cwd(), version: version(), isPublic: flags.public === true },
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    ...(token !== undefined && { token }),
    ...(store !== undefined && { store }),
    ...(allowHost && { allowHosts: allowHost }),
    ...(allowOrigin && { allowOrigins: allowOrigin }),
    ...(cert !== undefined && key !== undefined && { tls: { cert: pem(cert), key: pem(key) } }),
    report: (text) => output.err(`mulligan: ${oneLine(text, 800)}\n`),
  })
  if (flags.json) output.out(`${safeJson({ url: server.url, token: server.token })}\n`)
  else output.out(`Mulligan is running at ${server.url}\nOpen ${server.url}/#token=${server.token}\n`)
  if (server.isNewToken) output.err('The token is new; later starts use the same one.\n')
  const stopped = Promise.withResolvers<void>()
  const interrupt = watchInterrupts(() => {
    output.err('\nStopping. Running turns have 10 s to end; the others resume at the next start. Ctrl-C again stops at once.\n')
    stopped.resolve()
  })
  try {
    await stopped.promise
    await server.close(GRACE)
  } finally {
    interrupt.dispose()
  }
  return EXIT.ok
}

function pem(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new UsageError(`${oneLine(path, 400)} can't be read: ${(error as NodeJS.ErrnoException).code}`, 'Name a readable PEM file.')
  }
}
