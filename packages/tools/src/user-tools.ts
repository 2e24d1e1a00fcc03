/** The person's own tools: files in a folder, each with a default export. */
import { existsSync, readFileSync } from 'node:fs'
import { readdir, realpath } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, extname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { defineTool, empty, ModelRetry, ok, type Tool, type ToolDefinition, ToolFailure, TransientError } from '@mulligan/core'
import { z } from 'zod'
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

const EXTENSIONS = ['.ts', '.js', '.mjs']

/** What a default export that is a function gets. */
const KIT = { defineTool, ModelRetry, ToolFailure, TransientError, ok, empty, z }

/**
 * Loads every `.ts`, `.js` and `.mjs` file of a folder, by name. A default export is a tool, a definition, a list of
 * those, or a function of `{ defineTool, ModelRetry, ToolFailure, TransientError, ok, empty, z }` that gives one.
 * A missing description is read from the `.md` file of the same name. A broken file is a problem, not an exception.
 *
 * @example
 * const { tools, problems } = await loadUserTools('.mulligan/tools')
 */
export async function loadUserTools(dir: string): Promise<UserTools> {
  const folder = await realpath(dir).catch(() => undefined)
  if (folder === undefined) return { tools: [], problems: [] }
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const files = entries
    .filter((entry) => !entry.isDirectory() && EXTENSIONS.includes(extname(entry.name)) && !entry.name.endsWith('.d.ts'))
    .map((entry) => entry.name)
    .sort()
  const tools: Tool[] = []
  const problems: UserToolProblem[] = []
  const origin = new Map<string, string>()
  if (files.length > 0) ownPackagesFor(folder)
  for (const file of files) {
    try {
      for (const tool of await toolsOf(join(folder, file))) {
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

async function toolsOf(path: string): Promise<Tool[]> {
  const module = await load(path)
  if (!('default' in module) || module['default'] === undefined) throw new TypeError('it has no default export')
  let exported: unknown = module['default']
  if (typeof exported === 'function') exported = await (exported as (kit: typeof KIT) => unknown)(KIT)
  const list = Array.isArray(exported) ? exported : [exported]
  if (list.length === 0) throw new TypeError('its default export is an empty list')
  return list.map((one) => asTool(one, path))
}

/** `require` loads ES modules too, and is Node's own also where a test runner replaces `import`; it can't wait for a top-level await. */
async function load(path: string): Promise<Record<string, unknown>> {
  try {
    const loaded: unknown = createRequire(import.meta.url)(path)
    return isNamespace(loaded) ? loaded : { default: loaded }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_REQUIRE_ASYNC_MODULE') throw error
    return import(/* @vite-ignore */ pathToFileURL(path).href)
  }
}

const isNamespace = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && (Object.prototype.toString.call(value) === '[object Module]' || '__esModule' in value)

function asTool(value: unknown, path: string): Tool {
  if (typeof value !== 'object' || value === null)
    throw new TypeError('its default export must be a tool, a definition, a list of those, or a function')
  if ('check' in value && 'inputSchema' in value) return value as Tool
  const definition = value as Partial<ToolDefinition>
  const description = definition.description ?? besides(path)
  return defineTool({ ...definition, ...(description === undefined ? {} : { description }) } as ToolDefinition)
}

function besides(path: string): string | undefined {
  const file = `${path.slice(0, -extname(path).length)}.md`
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
}

function sentence(error: unknown, folder: string): string {
  const [first = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
  const kind = error instanceof SyntaxError ? 'it does not parse: ' : ''
  const text = `${kind}${first.replaceAll(pathToFileURL(folder).href, basename(folder)).replaceAll(folder, basename(folder))}`.trim()
  return text === '' ? 'it could not be loaded.' : /[.!?]$/.test(text) ? text : `${text}.`
}
