/** What is in force, and where each of it comes from: flags, then environment, project, person, defaults. */
import { DEFAULT_LIMITS, type Limits } from '@mulligan/core'
import { UsageError } from '../exit.ts'
import { type ApprovalSettings, approvalSettings, isTrustedProject } from './approval.ts'
import type { ConfigFile } from './config-file.ts'
import { type Environment, environment } from './environment.ts'
import { configFiles } from './files.ts'
import { type SandboxFlags, type SandboxLayer, type SandboxSettings, sandboxSettings } from './sandbox.ts'
import type { AgentFields, Config } from './schema.ts'
import type { Origin, Setting } from './setting.ts'

type Env = Readonly<Record<string, string | undefined>>

export interface ConfiguredAgent extends AgentFields {
  readonly name: string
  readonly origin: Origin
  readonly from: string
}

export interface Settings {
  readonly files: readonly ConfigFile[]
  readonly model: Setting<string> | undefined
  readonly baseUrl: Setting<string> | undefined
  /** Those of all files, the project's first. */
  readonly models: readonly Setting<NonNullable<Config['models']>>[]
  readonly agent: Setting<string>
  readonly lean: Setting<readonly string[]> | undefined
  /** Those of all files. */
  readonly off: readonly Setting<string>[]
  readonly limits: { readonly [Key in keyof Limits]: Setting<number> }
  readonly webSearch: Setting<NonNullable<NonNullable<Config['web']>['search']>> | undefined
  /** Those of all files, the person's first. */
  readonly diagnostics: readonly Setting<NonNullable<Config['diagnostics']>>[]
  readonly sandbox: SandboxSettings
  readonly approval: ApprovalSettings
  readonly remoteHosts: readonly string[]
  readonly agents: readonly ConfiguredAgent[]
}

export interface SettingFlags {
  readonly model?: string
  readonly baseUrl?: string
  readonly agent?: string
  readonly maxRequests?: number
  readonly timeout?: number
  readonly sandbox?: SandboxFlags
  readonly mode?: string
}

export const DEFAULT_AGENT = 'build'

/** @throws UsageError */
export function readSettings(cwd: string, flags: SettingFlags = {}, env: Env = process.env): Settings {
  const files = configFiles(cwd, env)
  const inFiles = <T>(get: (values: Config) => T | undefined): Setting<T>[] =>
    files.flatMap(({ origin, shown, values }) => {
      const value = get(values)
      return value === undefined ? [] : [{ value, origin, from: shown }]
    })
  const flag = <T>(value: T | undefined, from: string): Setting<T>[] => (value === undefined ? [] : [{ value, origin: 'flag', from }])
  const now = environment(env)
  const fromEnv = <T>(key: string, value: T | undefined): Setting<T>[] =>
    value === undefined ? [] : [{ value, origin: 'env', from: now.from(key) }]
  const limit = (key: keyof Limits, flags: Setting<number>[] = []): Setting<number> =>
    [...flags, ...fromEnv(`limits.${key}`, now.values.limits?.[key])][0] ??
    lowest(
      inFiles(({ limits }) => limits?.[key]),
      { value: DEFAULT_LIMITS[key], origin: 'default', from: 'default' },
    )
  const sandbox = sandboxSettings({
    flags: flags.sandbox ?? {},
    env: { values: now.values.sandbox ?? {}, from: now.from },
    project: sandboxIn(files, 'project'),
    user: sandboxIn(files, 'user'),
  })
  const agent: Setting<string> = { value: DEFAULT_AGENT, origin: 'default', from: 'default' }
  return {
    files,
    model: [...flag(flags.model, '--model'), ...fromEnv('model', now.values.model), ...inFiles(({ model }) => model)][0],
    baseUrl: [...flag(flags.baseUrl, '--base-url'), ...fromEnv('baseUrl', now.values.baseUrl), ...inFiles(({ baseUrl }) => baseUrl)][0],
    models: inFiles(({ models }) => models),
    agent: [
      ...flag(flags.agent, '--agent'),
      ...fromEnv('agent', now.values.agent),
      // Else it would do away with the limits of the one that the person has chosen.
      ...(isTrustedProject(files) ? inFiles(({ agent }) => agent) : inFiles(({ agent }) => agent).toReversed()),
      agent,
    ][0] as Setting<string>,
    lean: inFiles(({ tools }) => tools?.lean)[0],
    off: inFiles(({ tools }) => tools?.off).flatMap(({ value, ...rest }) => value.map((one) => ({ value: one, ...rest }))),
    limits: {
      requests: limit('requests', flag(flags.maxRequests, '--max-requests')),
      calls: limit('calls'),
      tokens: limit('tokens'),
      cost: limit('cost'),
      seconds: limit('seconds', flag(flags.timeout, '--timeout')),
    },
    webSearch: searchOf(now, inFiles(({ web }) => web?.search)[0]),
    diagnostics: checksOf(inFiles(({ diagnostics }) => diagnostics).toReversed(), sandbox, files),
    sandbox,
    approval: approvalSettings({ cwd, flag: flags.mode, now: fromEnv('mode', now.values.mode)[0], files }),
    remoteHosts: inFiles(({ remoteHosts }) => remoteHosts).flatMap(({ value }) => value),
    agents: files.flatMap(({ origin, shown, values }) =>
      Object.entries(values.agents ?? {}).map(([name, fields]) => ({ ...fields, name, origin, from: shown })),
    ),
  }
}

type Search = Settings['webSearch']

/** Each part of it has a variable; what a file says counts for the rest, where it is about the same service. */
function searchOf({ values, from }: Environment, own: Search): Search {
  const asked = values.web?.search
  if (asked === undefined) return own
  const { provider = own?.value.provider, url = provider === own?.value.provider ? own?.value.url : undefined } = asked
  const key = `web.search.${asked.provider === undefined ? 'url' : 'provider'}`
  if (provider === undefined)
    throw new UsageError(`${from(key)} is set, and no service is named`, 'Set MULLIGAN_WEB_SEARCH_PROVIDER too, or unset it.')
  return { value: { provider, ...(url !== undefined && { url }) }, origin: 'env', from: from(key) }
}

/** Where commands run in no sandbox, a project's checks don't run unasked, unless the person trusts it. */
function checksOf(checks: Settings['diagnostics'], { backend }: SandboxSettings, files: readonly ConfigFile[]): Settings['diagnostics'] {
  return backend?.value !== 'none' || isTrustedProject(files) ? checks : checks.filter(({ origin }) => origin !== 'project')
}

const sandboxIn = (files: readonly ConfigFile[], origin: ConfigFile['origin']): SandboxLayer => {
  const { values, shown = '' } = files.find((file) => file.origin === origin) ?? { values: {} }
  return { values: values.sandbox ?? {}, shown }
}

/** A project may spend less than the person allows, not more; who says nothing allows the default. */
function lowest(inFiles: readonly Setting<number>[], byDefault: Setting<number>): Setting<number> {
  const all = inFiles.some(({ origin }) => origin === 'user') ? inFiles : [...inFiles, byDefault]
  return all.toSorted((a, b) => a.value - b.value)[0] as Setting<number>
}

export const limitsOf = ({ limits }: Settings): Limits => ({
  requests: limits.requests.value,
  calls: limits.calls.value,
  tokens: limits.tokens.value,
  cost: limits.cost.value,
  seconds: limits.seconds.value,
})
