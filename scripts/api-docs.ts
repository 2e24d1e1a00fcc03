/** The pages of docs/api, from what the packages declare. Writes them, or with `--check` says which are not current. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { exportsOf } from './api/exports.ts'
import { fileName, pageOf } from './api/page.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const PACKAGES = ['core', 'repair', 'ai-sdk', 'agent', 'host', 'eval', 'tools', 'sandbox', 'testing']

interface Manifest {
  readonly name: string
  readonly description: string
}

/** By the path in the repository. */
export function apiPages(): ReadonlyMap<string, string> {
  const entryOf = (folder: string): string => join(ROOT, 'packages', folder, 'dist', 'index.d.ts')
  const exported = exportsOf(PACKAGES.map(entryOf))
  return new Map(
    PACKAGES.map((folder) => {
      const { name, description } = JSON.parse(readFileSync(join(ROOT, 'packages', folder, 'package.json'), 'utf8')) as Manifest
      const page = pageOf(exported.get(entryOf(folder)) ?? [], {
        name,
        description,
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
    for (const path of stale) console.error(`${path} is not current: node scripts/api-docs.ts writes it again`)
    process.exitCode = stale.length > 0 ? 1 : 0
  } else {
    mkdirSync(join(ROOT, 'docs', 'api'), { recursive: true })
    for (const path of stale) writeFileSync(join(ROOT, path), pages.get(path) as string)
    console.log(`${stale.length} of ${pages.size} pages written`)
  }
}
