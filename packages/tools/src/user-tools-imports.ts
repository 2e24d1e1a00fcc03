/** Lets files in a folder without `node_modules` import our packages. */
import { registerHooks } from 'node:module'
import { basename } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { UserToolFiles } from './user-tools-files.ts'

/** What may be imported by name → the package that answers. */
const OURS: Readonly<Record<string, string>> = { '@mulligan/core': '@mulligan/core', mulligan: '@mulligan/core', zod: 'zod' }

/** By the address of the folder. */
const folders = new Map<string, UserToolFiles['contents']>()
let registered = false

/**
 * Files in the folder get our own copy of a package that they can't resolve themselves, and import nothing from inside it but what was
 * found there. Registered once for the process.
 */
export function ownPackagesFor({ folder, contents }: UserToolFiles): void {
  folders.set(`${pathToFileURL(folder).href}/`, contents)
  if (registered) return
  registered = true
  registerHooks({
    resolve(specifier, context, next) {
      const ours = Object.hasOwn(OURS, specifier) ? OURS[specifier] : undefined
      if (ours === undefined || !isUsers(context.parentURL)) {
        const resolved = next(specifier, context)
        const text = textOf(resolved.url)
        return text === undefined ? resolved : { ...resolved, format: moduleFormat(resolved.url, text) ?? resolved.format ?? null }
      }
      try {
        return next(specifier, context)
      } catch (error) {
        try {
          return next(ours, { ...context, parentURL: import.meta.url })
        } catch {
          if (ours !== '@mulligan/core') throw error
          // A checkout that was not built: the source beside this one.
          return next(new URL('../../core/src/index.ts', import.meta.url).href, context)
        }
      }
    },
  })
}

const contentsOf = (url: string | undefined): UserToolFiles['contents'] | undefined =>
  url === undefined ? undefined : [...folders].find(([folder]) => url.startsWith(folder))?.[1]

const isUsers = (url: string | undefined): boolean => contentsOf(url) !== undefined

/** Of a file in the folder. @throws Error where it was not among those found: a FIFO, a hidden file, one that came later */
function textOf(url: string): string | undefined {
  const contents = contentsOf(url)
  if (contents === undefined) return undefined
  const path = fileURLToPath(url.replace(/[?#].*$/, ''))
  const bytes = contents.get(path)
  if (bytes === undefined) throw new Error(`${basename(path)} can't be imported: it is not among the regular files of the folder`)
  return bytes.toString('utf8')
}

/** Said outright, because Node warns of a module whose format it has to find out by parsing it twice. */
function moduleFormat(url: string, text: string): string | undefined {
  const bare = url.replace(/[?#].*$/, '')
  if (bare.endsWith('.ts')) return 'module-typescript'
  if (!bare.endsWith('.js')) return undefined
  return /^\s*(?:import\b|export\b)/m.test(text) ? 'module' : 'commonjs'
}
