/** The effective settings and their sources: flags, environment, project, user, defaults. */
import type { Limits } from '@mulligan/core'
import { DEFAULT_LIMITS } from '@mulligan/core/executor'
import type { Env } from '../common/env.ts'
import { UsageError } from '../common/errors.ts'
import type { Origin, Setting } from '../common/setting.ts'
import { allowsValue, readTrust } from '../trust/store.ts'
import { admit, type Withheld, type Word } from './admit.ts'
import { type ApprovalSettings, approvalSettings, fileOf, isTrustedProject } from './approval.ts'
import { type Environment, environment } from './environment.ts'
import { configFiles } from './files.ts'
import { flagLayer, given, type Layer, type SettingFlags } from './layers.ts'
import type { ConfigFile } from './places.ts'
import { type SandboxSettings, sandboxSettings, withProfile } from './sandbox.ts'
import { type AgentFields, type Key, TABLE, type ValueOf } from './schema.ts'

export type { SettingFlags }

export interface ConfiguredAgent extends AgentFields {
  readonly name: string
  readonly origin: Origin
  readonly from: string
}

export interface Settings {
  readonly files: readonly ConfigFile[]
  readonly model: Setting<string> | undefined
  readonly baseUrl: Setting<string> | undefined
  /** From all files, the project's first. */
  readonly models: readonly Setting<ValueOf<'models'>>[]
  readonly agent: Setting<string>
  readonly lean: Setting<readonly string[]> | undefined
  /** From all files. */
  readonly off: readonly Setting<string>[]
  readonly limits: { readonly [Name in keyof Limits]: Setting<number> }
  readonly webSearch: Setting<ValueOf<'web.search'>> | undefined
  /** From all files, the user's first. */
  readonly diagnostics: readonly Setting<ValueOf<'diagnostics'>>[]
  /** From all files; the user's server counts where names are equal. */
  readonly mcpServers: readonly Setting<{ readonly name: string; readonly server: ConfiguredServer }>[]
  /** The folder of notes, perhaps beginning with `~/`. */
  readonly notesVault: Setting<string> | undefined
  readonly notify: Setting<ValueOf<'notify'>>
  /** The account of mail by IMAP and SMTP. */
  readonly mail: MailSettings
  readonly theme: Setting<ValueOf<'theme'>>
  readonly plain: Setting<ValueOf<'plain'>>
  readonly store: Setting<string> | undefined
  readonly sandbox: SandboxSettings
  readonly approval: ApprovalSettings
  readonly remoteHosts: readonly string[]
  readonly agents: readonly ConfiguredAgent[]
  /** Values in the project's file that count only after the user's approval. */
  readonly withheld: readonly Withheld[]
  /** The user's own values, and what they have allowed for this project. */
  readonly word: Word
}

export type MailSettings = Readonly<Record<'address' | 'user' | 'imap' | 'smtp', Setting<string> | undefined>>

export const DEFAULT_AGENT = TABLE.agent.default

const byDefault = <T>(value: T): Setting<T> => ({ value, origin: 'default', from: 'default' })

/** Reads all sources. @throws UsageError */
export function readSettings(cwd: string, flags: SettingFlags, env: Env): Settings {
  const files = configFiles(cwd, env)
  const now = environment(env)
  const word = wordOf(cwd, files, flags, now, env)
  const [counting, withheld] = countingOf(files, word)
  const layers: readonly Layer[] = [
    flagLayer(flags),
    { origin: 'env', ...now },
    ...counting.map(({ origin, values, shown }): Layer => ({ origin, values, from: () => shown })),
  ]
  const all = <K extends Key>(key: K) => given(layers, key)
  return {
    ...{ files, withheld, word },
    model: all('model')[0],
    baseUrl: all('baseUrl')[0],
    models: all('models'),
    agent: all('agent')[0] ?? byDefault(DEFAULT_AGENT),
    lean: all('tools.lean')[0],
    off: all('tools.off').flatMap(({ value, ...rest }) => value.map((one) => ({ value: one, ...rest }))),
    limits: ofLimits((name) => all(`limits.${name}`)[0] ?? byDefault(DEFAULT_LIMITS[name])),
    webSearch: searchOf(
      now,
      all('web.search').find(({ origin }) => origin !== 'env'),
    ),
    diagnostics: all('diagnostics').toReversed(),
    mcpServers: serversOf(all('mcpServers')),
    notesVault: all('notes.vault')[0],
    notify: all('notify')[0] ?? byDefault(TABLE.notify.default as ValueOf<'notify'>),
    mail: { address: all('mail.address')[0], user: all('mail.user')[0], imap: all('mail.imap')[0], smtp: all('mail.smtp')[0] },
    theme: all('theme')[0] ?? byDefault(TABLE.theme.default as ValueOf<'theme'>),
    plain: all('plain')[0] ?? byDefault(TABLE.plain.default as ValueOf<'plain'>),
    store: all('store')[0],
    sandbox: sandboxSettings(layers),
    approval: approvalSettings(layers, word.isTrusted, cwd, env),
    remoteHosts: all('remoteHosts').flatMap(({ value }) => value),
    agents: all('agents').flatMap(({ value, origin, from }) =>
      Object.entries(value).map(([name, fields]) => ({ ...fields, name, origin, from })),
    ),
  }
}

function wordOf(cwd: string, files: readonly ConfigFile[], flags: SettingFlags, now: Environment, env: Env): Word {
  const { values: own = {} } = fileOf(files, 'user') ?? {}
  const trust = readTrust(cwd, env)
  const folder = fileOf(files, 'project')?.folder ?? cwd
  return {
    own: { ...own, sandbox: { ...own.sandbox, ...now.values.sandbox, ...flags.sandbox } },
    isTrusted: isTrustedProject(files, env),
    hosts: own.remoteHosts ?? [],
    allows: (key, value) => allowsValue(trust, folder, key, value),
  }
}

/** Returns the files with only those of the project's values that count, and the values that do not count yet. */
function countingOf(files: readonly ConfigFile[], word: Word): readonly [readonly ConfigFile[], readonly Withheld[]] {
  const project = fileOf(files, 'project')
  if (!project?.found) return [files, []]
  const { sandbox, ...rest } = project.values
  const { values, withheld } = admit({ ...rest, ...(sandbox && { sandbox: withProfile(sandbox) }) }, project.shown, word)
  return [files.map((file) => (file === project ? { ...file, values } : file)), withheld]
}

export type ConfiguredServer = ValueOf<'mcpServers'>[string]

function serversOf(given: readonly Setting<ValueOf<'mcpServers'>>[]): Settings['mcpServers'] {
  const byName = new Map(
    given.flatMap(({ value, ...rest }) =>
      Object.entries(value).map(([name, server]) => [name, { value: { name, server }, ...rest }] as const),
    ),
  )
  return [...byName.values()]
}

type Search = Settings['webSearch']

/** Merges the web search settings: each part has a variable, and the file fills in the rest if it is for the same service. */
function searchOf({ values, from }: Environment, own: Search): Search {
  const asked: Partial<ValueOf<'web.search'>> | undefined = values.web?.search
  if (asked === undefined) return own
  const { provider = own?.value.provider, url = provider === own?.value.provider ? own?.value.url : undefined } = asked
  const key = `web.search.${asked.provider === undefined ? 'url' : 'provider'}`
  if (provider === undefined)
    throw new UsageError(`${from(key)} is set, but no search service is named`, 'Set MULLIGAN_WEB_SEARCH_PROVIDER too, or unset it.')
  return { value: { provider, ...(url !== undefined && { url }) }, origin: 'env', from: from(key) }
}

export const limitsOf = ({ limits }: Settings): Limits => ofLimits((name) => limits[name].value)

const ofLimits = <T>(of: (name: keyof Limits) => T) =>
  Object.fromEntries((Object.keys(DEFAULT_LIMITS) as (keyof Limits)[]).map((name) => [name, of(name)])) as Record<keyof Limits, T>
