/** The built-in tools of a workspace, family by family. */
import type { Tool } from '@mulligan/core'
import type { Sandbox } from '@mulligan/sandbox'
import {
  fileTools,
  gitTools,
  type ShellTools,
  shellTools,
  type ThinkOptions,
  thinkTools,
  type WebOptions,
  type Workspace,
  webTools,
  withDiagnostics,
} from '@mulligan/tools'
import type { Env } from '../common/env.ts'
import { UsageError } from '../common/errors.ts'
import { IMAGE_TYPES, MAX_IMAGE_BYTES } from '../common/images.ts'
import { readableSecrets, sandboxOptions } from '../config/sandbox.ts'
import type { Settings } from '../config/settings.ts'
import { checkInSandbox } from './check-in-sandbox.ts'
import { folderSandbox } from './sandbox.ts'

export interface BuiltInOptions {
  readonly settings: Settings
  /** For notes and questions of the session. Default: notes are lost when the process ends, and nobody can be asked. */
  readonly session?: ThinkOptions | undefined
  /** Called once, when the first command has opened the sandbox. */
  readonly onSandbox?: ((sandbox: Sandbox) => void) | undefined
  readonly env: Env
}

export interface BuiltInTools {
  readonly tools: readonly Tool[]
  readonly ignored: ShellTools['ignored']
  /** Ends running commands and closes the sandbox. */
  readonly close: () => Promise<void>
}

/** Creates the built-in tools. @throws UsageError if the configured web search lacks a key or an address */
export function builtInTools(
  workspace: Workspace,
  { settings, session = {}, onSandbox = () => undefined, env }: BuiltInOptions,
): BuiltInTools {
  let isOpened = false
  const sandbox = folderSandbox({ ...sandboxOptions(settings.sandbox, workspace.root, env), hostEnv: env }, (opened) => {
    isOpened = true
    onSandbox(opened)
  })
  const { backend, network, timeout } = settings.sandbox
  const shell = shellTools({
    workspace,
    sandbox: sandbox.open,
    network: backend?.value === 'none' ? 'bridge' : (network?.value ?? 'none'),
    timeout: timeout.value,
    layers: true,
    readableSecrets: readableSecrets(settings.sandbox, workspace.root, env),
  })
  const tools = [
    ...fileTools(workspace, { media: IMAGE_TYPES, mediaBytes: MAX_IMAGE_BYTES }),
    ...gitTools(workspace),
    ...thinkTools(session),
    ...webTools({ search: searchOf(settings, env) }),
  ]
  const checks = settings.diagnostics.flatMap(({ value }) =>
    value.map(({ timeout, ...check }) => ({ ...check, ...(timeout !== undefined && { timeout }) })),
  )
  const checked = withDiagnostics(tools, { workspace, checks, run: checkInSandbox(shell.check) })
  return {
    tools: [...checked, ...shell.tools],
    // If no command has run, don't open a sandbox just to check.
    ignored: {
      changed: async () => (isOpened ? shell.ignored.changed() : []),
      keep: async () => (isOpened ? shell.ignored.keep() : []),
    },
    close: async () => {
      await shell.dispose()
      await sandbox.close()
    },
  }
}

/** Returns the configured search service, otherwise all that the environment has a key or address for; the first is used. Keys are never in a file. */
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
