/** The built-in tools of a workspace, family by family. */
import type { Tool } from '@mulligan/core'
import {
  fileTools,
  gitTools,
  type ThinkOptions,
  thinkTools,
  type WebOptions,
  type Workspace,
  webTools,
  withDiagnostics,
} from '@mulligan/tools'
import type { Settings } from './config/settings.ts'
import { UsageError } from './exit.ts'

type Env = Readonly<Record<string, string | undefined>>

export interface BuiltInOptions {
  readonly settings: Settings
  /** Of the session, for notes and questions. Default: notes end with the process, and nobody is there. */
  readonly session?: ThinkOptions | undefined
  readonly env?: Env
}

/** @throws UsageError when the search that is configured lacks what it needs */
export function builtInTools(workspace: Workspace, { settings, session = {}, env = process.env }: BuiltInOptions): readonly Tool[] {
  const tools = [...fileTools(workspace), ...gitTools(workspace), ...thinkTools(session), ...webTools({ search: searchOf(settings, env) })]
  const checks = settings.diagnostics.flatMap(({ value }) =>
    value.map(({ timeout, ...check }) => ({ ...check, ...(timeout !== undefined && { timeout }) })),
  )
  return withDiagnostics(tools, { workspace, checks })
}

/** The search that is named, else all that the environment has a key or address for. Keys stand in no file. */
function searchOf({ webSearch }: Settings, env: Env): NonNullable<WebOptions['search']> {
  const brave = env['BRAVE_API_KEY']
  const tavily = env['TAVILY_API_KEY']
  const searxng = env['SEARXNG_URL']
  const { provider, url } = webSearch?.value ?? {}
  const at = url === undefined ? {} : { url }
  const lacks = (variable: string): never => {
    throw new UsageError(`${webSearch?.from}: web.search names ${provider}, and ${variable} is not set`, `export ${variable}=…`)
  }
  if (provider === 'searxng') return { searxng: { url: url ?? (searxng || lacks('SEARXNG_URL')) } }
  if (provider === 'brave') return { brave: { key: brave || lacks('BRAVE_API_KEY'), ...at } }
  if (provider === 'tavily') return { tavily: { key: tavily || lacks('TAVILY_API_KEY'), ...at } }
  return {
    ...(searxng && { searxng: { url: searxng } }),
    ...(brave && { brave: { key: brave } }),
    ...(tavily && { tavily: { key: tavily } }),
  }
}
