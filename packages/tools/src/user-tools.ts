/** The person's own tools: files in a folder, each with a default export. */
import { createRequire } from 'node:module'
import { basename, extname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { defineTool, empty, ModelRetry, ok, type Tool, type ToolDefinition, ToolFailure, TransientError } from '@mulligan/core'
import { z } from 'zod'
import { findUserTools, type UserToolFiles } from './user-tools-files.ts'
import { ownPackagesFor } from './user-tools-imports.ts'

export interface UserToolProblem {
  /** Name of the file. */
  readonly file: string
  /** One sentence. */
  readonly error: string
}

export interface UserTools {
  readonly tools: readonly Tool[]
  readonly problems: readonly UserToolProblem[]
}

export interface UserToolOptions {
  /** Seconds that a file may take to load. Default 10. */
  readonly seconds?: number
  /** Runs the loading of one file. Default: just runs it. */
  readonly around?: <T>(file: string, load: () => Promise<T>) => Promise<T>
}

const LOADING_SECONDS = 10

/** What a default export that is a function gets. */
const KIT = { defineTool, ModelRetry, ToolFailure, TransientError, ok, empty, z }

/**
 * Loads every `.ts`, `.js` and `.mjs` file of a folder, by name. A default export is a tool, a definition, a list of
 * those, or a function of `{ defineTool, ModelRetry, ToolFailure, TransientError, ok, empty, z }` that gives one.
 * A missing description is read from the `.md` file of the same name. A broken file is a problem, not an exception, and
 * so is one that does not finish loading. Only regular files are read; what the files import from inside their folder must be among
 * those that were found.
 *
 * @param from the folder, or what {@link findUserTools} found in it
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
  if (files.length > 0) ownPackagesFor(found)
  for (const file of files) {
    try {
      for (const tool of await inTime(
        seconds,
        around(file, () => toolsOf(join(folder, file), found)),
      )) {
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
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it did not finish loading within ${seconds} s`)), seconds * 1000)
  })
  return Promise.race([loading, late]).finally(() => clearTimeout(timer))
}

async function toolsOf(path: string, found: UserToolFiles): Promise<Tool[]> {
  const module = await load(path)
  if (!('default' in module) || module['default'] === undefined) throw new TypeError('it has no default export')
  let exported: unknown = module['default']
  if (typeof exported === 'function') exported = await (exported as (kit: typeof KIT) => unknown)(KIT)
  const list = Array.isArray(exported) ? exported : [exported]
  if (list.length === 0) throw new TypeError('its default export is an empty list')
  return list.map((one) => asTool(one, path, found))
}

/** `require` loads ES modules too, and is Node's own also where a test runner replaces `import`; it can't wait for a top-level await. */
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

/** What looks like a tool may come from anywhere: it is checked like a definition, and keeps its own check of inputs. */
function definitionOf({ check, inputSchema, ...rest }: Tool): Partial<ToolDefinition> {
  if (typeof check?.check !== 'function') throw new TypeError('it has a check that is none: use defineTool')
  return { ...(rest as unknown as Partial<ToolDefinition>), input: inputSchema as ToolDefinition['input'] }
}

/** What `defineTool` takes on trust from TypeScript. */
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

/** Whatever was thrown: it may be no error, or one that throws when it is looked at. */
function told(error: unknown): { readonly kind: string; readonly message: string } {
  try {
    if (error instanceof Error) return { kind: error instanceof SyntaxError ? 'it does not parse: ' : '', message: String(error.message) }
    return { kind: typeof error === 'string' ? '' : 'it threw ', message: String(error) }
  } catch {
    return { kind: '', message: 'it threw something that can not be shown' }
  }
}
