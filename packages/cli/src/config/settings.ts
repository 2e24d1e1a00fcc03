/** What is in force, and where each of it comes from: flags, then environment, project, person, defaults. */
import { DEFAULT_LIMITS, type Limits } from '@mulligan/core'
import { type ApprovalSettings, approvalSettings } from './approval.ts'
import type { ConfigFile } from './config-file.ts'
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
  const fromEnv = (name: string): Setting<string>[] => {
    const value = env[name]
    return value ? [{ value, origin: 'env', from: name }] : []
  }
  const limit = (key: keyof Limits, flags: Setting<number>[] = []): Setting<number> =>
    flags[0] ?? lowest(inFiles(({ limits }) => limits?.[key])) ?? { value: DEFAULT_LIMITS[key], origin: 'default', from: 'default' }
  const agent: Setting<string> = { value: DEFAULT_AGENT, origin: 'default', from: 'default' }
  return {
    files,
    model: [...flag(flags.model, '--model'), ...fromEnv('MULLIGAN_MODEL'), ...inFiles(({ model }) => model)][0],
    baseUrl: [...flag(flags.baseUrl, '--base-url'), ...fromEnv('MULLIGAN_BASE_URL'), ...inFiles(({ baseUrl }) => baseUrl)][0],
    agent: [...flag(flags.agent, '--agent'), ...inFiles(({ agent }) => agent), agent][0] as Setting<string>,
    lean: inFiles(({ tools }) => tools?.lean)[0],
    off: inFiles(({ tools }) => tools?.off).flatMap(({ value, ...rest }) => value.map((one) => ({ value: one, ...rest }))),
    limits: {
      requests: limit('requests', flag(flags.maxRequests, '--max-requests')),
      calls: limit('calls'),
      tokens: limit('tokens'),
      cost: limit('cost'),
      seconds: limit('seconds', flag(flags.timeout, '--timeout')),
    },
    webSearch: inFiles(({ web }) => web?.search)[0],
    diagnostics: inFiles(({ diagnostics }) => diagnostics).toReversed(),
    sandbox: sandboxSettings({ flags: flags.sandbox ?? {}, env, project: sandboxIn(files, 'project'), user: sandboxIn(files, 'user') }),
    approval: approvalSettings({ cwd, flag: flags.mode, env, files }),
    remoteHosts: inFiles(({ remoteHosts }) => remoteHosts).flatMap(({ value }) => value),
    agents: files.flatMap(({ origin, shown, values }) =>
      Object.entries(values.agents ?? {}).map(([name, fields]) => ({ ...fields, name, origin, from: shown })),
    ),
  }
}

const sandboxIn = (files: readonly ConfigFile[], origin: ConfigFile['origin']): SandboxLayer => {
  const { values, shown = '' } = files.find((file) => file.origin === origin) ?? { values: {} }
  return { values: values.sandbox ?? {}, shown }
}

/** A project may spend less than the person allows, not more. */
const lowest = (settings: readonly Setting<number>[]): Setting<number> | undefined => settings.toSorted((a, b) => a.value - b.value)[0]

export const limitsOf = ({ limits }: Settings): Limits => ({
  requests: limits.requests.value,
  calls: limits.calls.value,
  tokens: limits.tokens.value,
  cost: limits.cost.value,
  seconds: limits.seconds.value,
})
