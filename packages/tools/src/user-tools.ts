/** Loads the user's own tools: files in a folder, each with a default export. */
import { createRequire, registerHooks } from 'node:module'
import { basename, extname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { defineTool, empty, ModelRetry, ok, type Tool, type ToolDefinition, ToolFailure, TransientError } from '@mulligan/core'
import { findUserTools, type UserToolFiles, type UserToolProblem } from './user-tools-files.ts'
import { endlessFiles } from './user-tools-probe.ts'

export interface UserTools {
  readonly tools: readonly Tool[]
  readonly problems: readonly UserToolProblem[]
}

export interface UserToolOptions {
  /** Maximum time for loading a file, in seconds. Default: 10. */
  readonly seconds?: number
  /** Wraps the loading of one file. Default: just loads it. */
  readonly around?: <T>(file: string, load: () => Promise<T>) => Promise<T>
}

const LOADING_SECONDS = 10

/** Argument of a default export that is a function. Imports zod as a whole, which is larger than what the built-in tools use of it. */
const kit = async () => ({ defineTool, ModelRetry, ToolFailure, TransientError, ok, empty, z: (await import('zod')).z })
type Kit = Awaited<ReturnType<typeof kit>>

/**
 * Loads every `.ts`, `.js` and `.mjs` file of a folder, by name. A default export is a tool, a definition, a list of those, or a function
 * of `{ defineTool, ModelRetry, ToolFailure, TransientError, ok, empty, z }` that returns one. A missing description is read from the `.md`
 * file of the same name. A file that is broken or does not finish loading, also in an endless loop, is reported as a problem and throws no
 * exception; to find out, each file is first loaded in a thread. Only regular files are read, and files may only import those files from their folder that were found.
 *
 * @param from the folder, or the result of {@link findUserTools}
 * @example
 * const { tools, problems } = await loadUserTools('.mulligan/tools')
 */
export async function loadUserTools(from: string | UserToolFiles, options: UserToolOptions = {}): Promise<UserTools> {
  const { seconds = LOADING_SECONDS, around = (_, load) => load() } = options
  const found = typeof from === 'string' ? findUserTools(from) : from
  const { folder, files } = found
  const tools: Tool[] = []
  const problems: UserToolProblem[] = [...found.problems]
  const origin = new Map<string, string>()
  const endless = await endlessFiles(found, seconds)
  for (const file of files) {
    try {
      if (endless.has(file)) throw unfinished(seconds)
      const loading = around(file, () => loadFile(file, found))
      for (const tool of await inTime(seconds, loading)) {
        const other = origin.get(tool.name)
        if (other !== undefined) throw new TypeError(`the tool ${JSON.stringify(tool.name)} is defined in ${other} already`)
        origin.set(tool.name, file)
        tools.push(tool)
      }
    } catch (error) {
      problems.push({ file, error: sentence(error, folder) })
    }
  }
  return { tools, problems }
}

async function inTime<T>(seconds: number, loading: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(unfinished(seconds)), seconds * 1000)
  return Promise.race([loading, late]).finally(() => clearTimeout(timer))
}

const unfinished = (seconds: number): Error => new Error(`it did not finish loading within ${seconds} s`)

/** Returns the tools of a file. @throws whatever is wrong with it */
export async function loadFile(file: string, found: UserToolFiles): Promise<Tool[]> {
  ownPackagesFor(found)
  const path = join(found.folder, file)
  const module = await load(path)
  if (!('default' in module) || module['default'] === undefined) throw new TypeError('it has no default export')
  let exported: unknown = module['default']
  if (typeof exported === 'function') exported = await (exported as (kit: Kit) => unknown)(await kit())
  const list = Array.isArray(exported) ? exported : [exported]
  if (list.length === 0) throw new TypeError('its default export is an empty list')
  return list.map((one) => asTool(one, path, found))
}

/** `require` also loads ES modules and is Node's own even if a test runner replaces `import`, but it does not support top-level await. */
async function load(path: string): Promise<Record<string, unknown>> {
  try {
    const loaded: unknown = createRequire(import.meta.url)(path)
    return isNamespace(loaded) ? loaded : { default: loaded }
  } catch (error) {
    if ((error as NodeJS.ErrnoException | null | undefined)?.code !== 'ERR_REQUIRE_ASYNC_MODULE') throw error
    return import(/* @vite-ignore */ pathToFileURL(path).href)
  }
}

const isNamespace = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && (Object.prototype.toString.call(value) === '[object Module]' || '__esModule' in value)

function asTool(value: unknown, path: string, found: UserToolFiles): Tool {
  if (typeof value !== 'object' || value === null)
    throw new TypeError('its default export must be a tool, a definition, a list of those, or a function')
  const made = 'check' in value && 'inputSchema' in value ? (value as Tool) : undefined
  const definition = made ? definitionOf(made) : (value as Partial<ToolDefinition>)
  const description = definition.description ?? besides(path, found)
  const tool = defineTool({ ...definition, ...(description === undefined ? {} : { description }) } as ToolDefinition)
  refuseOddParts(tool)
  return made ? { ...tool, check: made.check } : tool
}

/** An object that looks like a tool may come from anywhere. It is checked like a definition but keeps its own input check. */
function definitionOf({ check, inputSchema, ...rest }: Tool): Partial<ToolDefinition> {
  if (typeof check?.check !== 'function') throw new TypeError('it has a check that is none: use defineTool')
  return { ...(rest as unknown as Partial<ToolDefinition>), input: inputSchema as ToolDefinition['input'] }
}

/** Checks what `defineTool` leaves to TypeScript. */
function refuseOddParts({ name, aliases, parameterAliases, examples, target, service }: Tool): void {
  const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value)
  const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null && !isList(value)
  const isName = (alias: unknown): boolean => isObject(alias) && 'name' in alias && typeof alias.name === 'string'
  const isExample = (one: unknown): boolean => isObject(one) && 'outcome' in one && 'input' in one && isObject(one.input)
  const right = {
    aliases: isList(aliases) && aliases.every(isName),
    parameterAliases: isObject(parameterAliases) && Object.values(parameterAliases).every(isList),
    examples: isList(examples) && examples.every(isExample),
    target: typeof target === 'function',
    service: typeof service === 'string',
  }
  for (const [field, is] of Object.entries(right))
    if (!is) throw new TypeError(`the ${field} of ${JSON.stringify(name)} have not the right form`)
}

const besides = (path: string, { contents }: UserToolFiles): string | undefined =>
  contents
    .get(`${path.slice(0, -extname(path).length)}.md`)
    ?.toString('utf8')
    .trim()

function sentence(error: unknown, folder: string): string {
  const { kind, message } = told(error)
  const [first = ''] = message.split('\n')
  const text = `${kind}${first.replaceAll(pathToFileURL(folder).href, basename(folder)).replaceAll(folder, basename(folder))}`.trim()
  return text === '' ? 'it could not be loaded.' : /[.!?]$/.test(text) ? text : `${text}.`
}

/** Describes any thrown value. It may not be an Error, or may throw when it is inspected. */
function told(error: unknown): { readonly kind: string; readonly message: string } {
  try {
    if (error instanceof Error) return { kind: error instanceof SyntaxError ? 'it does not parse: ' : '', message: String(error.message) }
    return { kind: typeof error === 'string' ? '' : 'it threw ', message: String(error) }
  } catch {
    return { kind: '', message: 'it threw something that can not be shown' }
  }
}

/** Package names that tools may import, and the packages that they resolve to. */
const OURS: Readonly<Record<string, string>> = { '@mulligan/core': '@mulligan/core', mulligan: '@mulligan/core', zod: 'zod' }

/** By the URL of the folder. */
const folders = new Map<string, UserToolFiles['contents']>()
let registered = false

/**
 * Gives files in the folder our copy of a package that they can't resolve themselves, and restricts their imports from inside the folder to
 * the files found there. Registered once per process.
 */
function ownPackagesFor({ folder, contents }: UserToolFiles): void {
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
          // In a checkout that was not built, use the source next to this package.
          return next(new URL('../../core/src/index.ts', import.meta.url).href, context)
        }
      }
    },
  })
}

const contentsOf = (url: string | undefined): UserToolFiles['contents'] | undefined =>
  url === undefined ? undefined : [...folders].find(([folder]) => url.startsWith(folder))?.[1]

const isUsers = (url: string | undefined): boolean => contentsOf(url) !== undefined

/** Returns the text of a file in the folder. @throws Error if the file was not found there: a FIFO, a hidden file, or one added later */
function textOf(url: string): string | undefined {
  const contents = contentsOf(url)
  if (contents === undefined) return undefined
  const path = fileURLToPath(url.replace(/[?#].*$/, ''))
  const bytes = contents.get(path)
  if (bytes === undefined) throw new Error(`${basename(path)} can't be imported: it is not among the regular files of the folder`)
  return bytes.toString('utf8')
}

/** Set explicitly, because Node warns about modules whose format it has to detect by parsing them twice. */
function moduleFormat(url: string, text: string): string | undefined {
  const bare = url.replace(/[?#].*$/, '')
  if (bare.endsWith('.ts')) return 'module-typescript'
  if (!bare.endsWith('.js')) return undefined
  return /^\s*(?:import\b|export\b)/m.test(text) ? 'module' : 'commonjs'
}
