/** Serves the page: the files that were built into `dist/web/`. They are read once, so no path can lead out of that folder. */
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import type { Hono } from 'hono'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
}
const IS_TEXT = /^(?:text|application)\/|svg/

interface Asset {
  readonly type: string
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly zipped: Uint8Array<ArrayBuffer> | undefined
}

/** Returns the files by their path; none if the page was not built. */
function assetsIn(folder: string): ReadonlyMap<string, Asset> {
  let paths: readonly string[]
  try {
    paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => extname(path) in TYPES)
  } catch {
    return new Map()
  }
  return new Map(
    paths.map((path) => {
      const type = TYPES[extname(path)] ?? ''
      const bytes = new Uint8Array(readFileSync(join(folder, path)))
      return [`/${path.split(sep).join('/')}`, { type, bytes, zipped: IS_TEXT.test(type) ? new Uint8Array(gzipSync(bytes)) : undefined }]
    }),
  )
}

/** @param folder default: `dist/web/` of this package, also for its sources */
export function servePage(app: Hono, folder = fileURLToPath(new URL('../dist/web/', import.meta.url))): void {
  const assets = assetsIn(folder)
  for (const [path, { type, bytes, zipped }] of assets) {
    // Files in `assets/` have the hash of their content in their names.
    const cache = path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache'
    app.get(path === '/index.html' ? '/' : path, (c) => {
      const isZipped = zipped !== undefined && /\bgzip\b/.test(c.req.header('accept-encoding') ?? '')
      const encoding = isZipped ? { 'content-encoding': 'gzip' } : {}
      return c.body(isZipped ? zipped : bytes, 200, { 'content-type': type, 'cache-control': cache, vary: 'accept-encoding', ...encoding })
    })
  }
}
