/** Lets files in a folder without `node_modules` import our packages. */
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** What may be imported by name → the package that answers. */
const OURS: Readonly<Record<string, string>> = { '@mulligan/core': '@mulligan/core', mulligan: '@mulligan/core', zod: 'zod' }

const folders = new Set<string>()
let registered = false

/** Files in `folder` get our own copy of a package that they can't resolve themselves. Registered once for the process. */
export function ownPackagesFor(folder: string): void {
  folders.add(`${pathToFileURL(folder).href}/`)
  if (registered) return
  registered = true
  registerHooks({
    resolve(specifier, context, next) {
      const ours = Object.hasOwn(OURS, specifier) ? OURS[specifier] : undefined
      if (ours === undefined || !isUsers(context.parentURL)) {
        const resolved = next(specifier, context)
        return isUsers(resolved.url) ? { ...resolved, format: moduleFormat(resolved.url) ?? resolved.format ?? null } : resolved
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

const isUsers = (url: string | undefined): boolean => url !== undefined && [...folders].some((folder) => url.startsWith(folder))

/** Said outright, because Node warns of a module whose format it has to find out by parsing it twice. */
function moduleFormat(url: string): string | undefined {
  const bare = url.replace(/[?#].*$/, '')
  if (bare.endsWith('.ts')) return 'module-typescript'
  if (!bare.endsWith('.js')) return undefined
  return /^\s*(?:import\b|export\b)/m.test(readFileSync(fileURLToPath(bare), 'utf8')) ? 'module' : 'commonjs'
}
