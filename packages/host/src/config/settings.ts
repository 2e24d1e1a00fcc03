/** The effective settings and their sources: flags, environment, project, user, defaults. */
import { DEFAULT_LIMITS, type Limits } from '@mulligan/core'
import type { Env } from '../common/env.ts'
import { UsageError } from '../common/errors.ts'
import type { Origin, Setting } from '../common/setting.ts'
import { allowsValue, readTrust } from '../trust/store.ts'
import { admit, type Withheld, type Word } from './admit.ts'
import { type ApprovalSettings, approvalSettings, isTrustedProject } from './approval.ts'
import type { ConfigFile } from './config-file.ts'
import { type Environment, environment } from './environment.ts'
import { configFiles } from './files.ts'
import { type SandboxFlags, type SandboxLayer, type SandboxSettings, sandboxSettings, withProfile } from './sandbox.ts'
import type { AgentFields, Config } from './schema.ts'

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
  readonly store: Setting<string> | undefined
  readonly sandbox: SandboxSettings
  readonly approval: ApprovalSettings
  readonly remoteHosts: readonly string[]
  readonly agents: readonly ConfiguredAgent[]
  /** What the project's file says and only counts after the person's word. */
  readonly withheld: readonly Withheld[]
  /** What the person has said about this project. */
  readonly word: Word
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
export function readSettings(cwd: string, flags: SettingFlags, env: Env): Settings {
  const files = configFiles(cwd, env)
  const now = environment(env)
  const word = wordOf(cwd, files, flags, now, env)
  const [counting, withheld] = countingOf(files, word)
  const inFiles = <T>(get: (values: Config) => T | undefined): Setting<T>[] =>
    counting.flatMap(({ origin, shown, values }) => {
      const value = get(values)
      return value === undefined ? [] : [{ value, origin, from: shown }]
    })
  const flag = <T>(value: T | undefined, from: string): Setting<T>[] => (value === undefined ? [] : [{ value, origin: 'flag', from }])
  const fromEnv = <T>(key: string, value: T | undefined): Setting<T>[] =>
    value === undefined ? [] : [{ value, origin: 'env', from: now.from(key) }]
  /** The first that says something; only what counts of the project's file is there. */
  const first = <T>(key: string, of: (values: Config) => T | undefined, flags: Setting<T>[] = []): Setting<T> | undefined =>
    [...flags, ...fromEnv(key, of(now.values)), ...inFiles(of)][0]
  const limit = (key: keyof Limits, flags: Setting<number>[] = []): Setting<number> =>
    first(`limits.${key}`, ({ limits }) => limits?.[key], flags) ?? { value: DEFAULT_LIMITS[key], origin: 'default', from: 'default' }
  return {
    files,
    model: first('model', ({ model }) => model, flag(flags.model, '--model')),
    baseUrl: first('baseUrl', ({ baseUrl }) => baseUrl, flag(flags.baseUrl, '--base-url')),
    models: inFiles(({ models }) => models),
    agent: first('agent', ({ agent }) => agent, flag(flags.agent, '--agent')) ?? {
      value: DEFAULT_AGENT,
      origin: 'default',
      from: 'default',
    },
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
    diagnostics: inFiles(({ diagnostics }) => diagnostics).toReversed(),
    store: first('store', ({ store }) => store),
    sandbox: sandboxSettings({
      flags: flags.sandbox ?? {},
      env: { values: now.values.sandbox ?? {}, from: now.from },
      project: sandboxIn(counting, 'project'),
      user: sandboxIn(counting, 'user'),
    }),
    approval: approvalSettings({ cwd, flag: flags.mode, now: fromEnv('mode', now.values.mode)[0], files: counting, env }),
    remoteHosts: inFiles(({ remoteHosts }) => remoteHosts).flatMap(({ value }) => value),
    agents: counting.flatMap(({ origin, shown, values }) =>
      Object.entries(values.agents ?? {}).map(([name, fields]) => ({ ...fields, name, origin, from: shown })),
    ),
    withheld,
    word,
  }
}

const ofOrigin = (files: readonly ConfigFile[], origin: ConfigFile['origin']): ConfigFile | undefined =>
  files.find((file) => file.origin === origin)

function wordOf(cwd: string, files: readonly ConfigFile[], flags: SettingFlags, now: Environment, env: Env): Word {
  const { values: own = {} } = ofOrigin(files, 'user') ?? {}
  const trust = readTrust(cwd, env)
  const folder = ofOrigin(files, 'project')?.folder ?? cwd
  return {
    own: { ...own, sandbox: { ...own.sandbox, ...now.values.sandbox, ...flags.sandbox } },
    isTrusted: isTrustedProject(files, env),
    hosts: own.remoteHosts ?? [],
    allows: (key, value) => allowsValue(trust, folder, key, value),
  }
}

/** The files with what counts of the project's, and what does not yet. */
function countingOf(files: readonly ConfigFile[], word: Word): readonly [readonly ConfigFile[], readonly Withheld[]] {
  const project = ofOrigin(files, 'project')
  if (!project?.found) return [files, []]
  const { sandbox, ...rest } = project.values
  const { values, withheld } = admit({ ...rest, ...(sandbox && { sandbox: withProfile(sandbox) }) }, project.shown, word)
  return [files.map((file) => (file === project ? { ...file, values } : file)), withheld]
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

const sandboxIn = (files: readonly ConfigFile[], origin: ConfigFile['origin']): SandboxLayer => {
  const { values, shown = '' } = ofOrigin(files, origin) ?? { values: {} }
  return { values: values.sandbox ?? {}, shown }
}

export const limitsOf = ({ limits }: Settings): Limits => ({
  requests: limits.requests.value,
  calls: limits.calls.value,
  tokens: limits.tokens.value,
  cost: limits.cost.value,
  seconds: limits.seconds.value,
})
