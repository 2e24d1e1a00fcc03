/** Formats the effective configuration for display, key by key, with the source of each value and without passwords. */
import { sizeText } from '@mulligan/sandbox'
import type { Setting } from '../common/setting.ts'
import { keyText } from './keys.ts'
import type { ConfiguredServer, Settings } from './settings.ts'
import { valueAt, withValue } from './value-at.ts'

const AUTO: Setting<string> = { value: 'auto', origin: 'default', from: 'default' }
const NO_NETWORK: Setting<string> = { ...AUTO, value: 'none' }
const SIZES: ReadonlySet<string> = new Set(['memory', 'output', 'disk'])

export interface Row {
  readonly key: string
  readonly value: unknown
  readonly from: string
}

/** Returns one row for each effective value; a key whose values are merged has several. */
export function rowsOf(settings: Settings): readonly Row[] {
  const {
    model,
    baseUrl,
    models,
    agent,
    lean,
    off,
    limits,
    webSearch,
    diagnostics,
    sandbox,
    approval,
    agents,
    remoteHosts,
    files,
    store,
    notesVault,
    notify,
    mail,
    theme,
    plain,
    mcpServers,
  } = settings
  const row = (key: string, setting: Setting<unknown> | undefined): Row[] =>
    setting ? [{ key, value: setting.value, from: setting.from }] : []
  return [
    ...row('model', model),
    ...row('baseUrl', baseUrl && { ...baseUrl, value: withoutPassword(baseUrl.value) }),
    ...models.flatMap(({ value, from }) =>
      Object.entries(value).map(([name, one]) => ({ key: keyText(['models', name]), value: one, from })),
    ),
    ...row('agent', agent),
    ...agents.map(({ name, description = '', from }) => ({ key: `agents.${name}`, value: description, from })),
    ...row('tools.lean', lean),
    ...off.map(({ value, from }) => ({ key: 'tools.off', value, from })),
    ...Object.entries(limits)
      .filter(([, { value }]) => Number.isFinite(value))
      .flatMap(([key, setting]) => row(`limits.${key}`, setting)),
    ...row('web.search', webSearch),
    ...diagnostics.flatMap((setting) => row('diagnostics', setting)),
    ...mcpServers.map(({ value: { name, server }, from }) => ({ key: keyText(['mcpServers', name]), value: withoutValues(server), from })),
    ...row('notes.vault', notesVault),
    ...row('notify', notify),
    ...Object.entries(mail).flatMap(([key, setting]) => row(`mail.${key}`, setting)),
    ...row('theme', theme),
    ...row('plain', plain),
    ...row('store', store && { ...store, value: withoutPassword(store.value) }),
    ...row('mode', approval.mode),
    ...Object.entries({ ...sandbox, backend: sandbox.backend ?? AUTO, network: sandbox.network ?? NO_NETWORK }).flatMap(([key, setting]) =>
      row(`sandbox.${key}`, setting && { ...setting, value: SIZES.has(key) ? sizeText(setting.value as number) : setting.value }),
    ),
    ...[...new Set([...approval.rules, ...approval.projectRules])].flatMap((rule) => row('policy', rule)),
    ...files.flatMap(({ values, shown }) =>
      (values.trustedProjects ?? []).map((folder) => ({ key: 'trustedProjects', value: folder, from: shown })),
    ),
    ...remoteHosts.map((host) => ({ key: 'remoteHosts', value: host, from: files.find(({ origin }) => origin === 'user')?.shown ?? '' })),
  ]
}

/** Hides the values of a server's variables and headers, which are often keys. */
const withoutValues = (server: ConfiguredServer): ConfiguredServer => {
  const hidden = (values: Record<string, string>) => Object.fromEntries(Object.keys(values).map((name) => [name, '[secret]']))
  const { env, headers, oauth, url } = server
  return {
    ...server,
    ...(env && { env: hidden(env) }),
    ...(headers && { headers: hidden(headers) }),
    ...(oauth?.clientSecret !== undefined && { oauth: { ...oauth, clientSecret: '[secret]' } }),
    ...(url !== undefined && { url: withoutPassword(url) }),
  }
}

/** Hides the credentials and passwords in a URL. */
export const withoutPassword = (url: string): string =>
  url.replace(/\/\/[^/]*@/, '//[secret]@').replace(/([?&]\w*password=)[^&]*/gi, '$1[secret]')

/** Returns the effective values in the form of a configuration file. A key whose rows are shortened is returned in full. */
export function effectiveConfig(settings: Settings): unknown {
  const { agents, off, approval, remoteHosts, files } = settings
  const whole: Readonly<Record<string, object>> = {
    models: Object.assign({}, ...settings.models.map(({ value }) => value).toReversed()) as object,
    agents: Object.fromEntries(agents.map(({ name, origin: _, from: __, ...fields }) => [name, fields])),
    mcpServers: Object.fromEntries(settings.mcpServers.map(({ value: { name, server } }) => [name, withoutValues(server)])),
    'tools.off': [...new Set(off.map(({ value }) => value))],
    diagnostics: settings.diagnostics.flatMap(({ value }) => value),
    policy: [...new Set([...approval.rules, ...approval.projectRules])].map(({ value }) => value),
    trustedProjects: files.flatMap(({ values }) => values.trustedProjects ?? []),
    remoteHosts: [...remoteHosts],
  }
  const single = rowsOf(settings).filter(({ key }) => !(key in whole) && !/^(?:agents|models|mcpServers)\b/.test(key))
  const entries: readonly (readonly [string, unknown])[] = [
    ...single.map(({ key, value }) => [key, value] as const),
    ...Object.entries(whole).filter(([, value]) => Object.keys(value).length > 0),
  ]
  return entries.reduce<unknown>((config, [key, value]) => withValue(config, key.split('.'), value), {})
}

/** Returns undefined if the key has no value. */
export const effectiveValue = (settings: Settings, path: readonly string[]): unknown => valueAt(effectiveConfig(settings), path)
