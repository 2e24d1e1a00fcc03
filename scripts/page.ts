/** Builds the page of `mulligan serve` into the server's package. Skipped if nothing that goes into it has changed. */
import { createHash } from 'node:crypto'
import { globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const STAMP = 'packages/server/dist/.web-stamp'

/** What ends up in the page: its own files, what it imports from the packages, and the versions of everything else. */
const SOURCES = ['apps/web/{index.html,vite.config.ts}', 'apps/web/src/**/*.{ts,tsx,css,svg}', 'package-lock.json']
SOURCES.push('packages/{core,repair}/src/**/*.ts', 'packages/server/src/reliability/present.ts')

function stamp(): string {
  const hash = createHash('sha256')
  for (const file of globSync(SOURCES, { cwd: ROOT, exclude: (name) => /\.(?:test|fixture)\.tsx?$/.test(name) }).sort())
    if (statSync(file).isFile()) hash.update(`${file}\0`).update(readFileSync(file)).update('\0')
  return hash.digest('hex')
}

const read = (file: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

export async function buildPage(): Promise<void> {
  const now = stamp()
  if (read(STAMP) === now && read('packages/server/dist/web/index.html') !== '') return
  await build({ configFile: 'apps/web/vite.config.ts' })
  mkdirSync('packages/server/dist', { recursive: true })
  writeFileSync(STAMP, now)
}
