/** Generates the pages of docs/api from the declarations of the packages. With `--check`, lists outdated pages instead. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ENTRIES } from './api/entries.ts'
import { exportsOf } from './api/exports.ts'
import { fileName, pageOf } from './api/page.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
interface Manifest {
  readonly name: string
  readonly description: string
}

/** Keyed by the path in the repository. */
export function apiPages(): ReadonlyMap<string, string> {
  const entryOf = (name: string): string => {
    const [folder = '', entry = 'index'] = name.split('/')
    return join(ROOT, 'packages', folder, 'dist', `${entry}.d.ts`)
  }
  const exported = exportsOf(ENTRIES.map(entryOf))
  return new Map(
    ENTRIES.map((entry) => {
      const [folder = '', more] = entry.split('/')
      const manifest = JSON.parse(readFileSync(join(ROOT, 'packages', folder, 'package.json'), 'utf8')) as Manifest
      const name = more === undefined ? manifest.name : `${manifest.name}/${more}`
      const page = pageOf(exported.get(entryOf(entry)) ?? [], {
        name,
        description: manifest.description,
        from: ({ file }) => {
          const other = /\/packages\/([\w-]+)\/dist\//.exec(file)?.[1]
          return other === undefined || other === folder ? undefined : `@mulligan/${other}`
        },
      })
      return [join('docs', 'api', fileName(name)), page]
    }),
  )
}

if (import.meta.main) {
  const pages = apiPages()
  const current = (path: string): boolean => existsSync(join(ROOT, path)) && readFileSync(join(ROOT, path), 'utf8') === pages.get(path)
  const stale = [...pages.keys()].filter((path) => !current(path))
  if (process.argv.includes('--check')) {
    for (const path of stale) console.error(`${path} is out of date: run node scripts/api-docs.ts`)
    process.exitCode = stale.length > 0 ? 1 : 0
  } else {
    mkdirSync(join(ROOT, 'docs', 'api'), { recursive: true })
    for (const path of stale) writeFileSync(join(ROOT, path), pages.get(path) as string)
    console.log(`${stale.length} of ${pages.size} pages written`)
  }
}
