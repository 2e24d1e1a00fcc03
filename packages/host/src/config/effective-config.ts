/** The effective configuration, key by key, with the source of each value and without passwords. For display. */
import { sizeText } from '@mulligan/sandbox'
import type { Setting } from '../common/setting.ts'
import { keyText } from './keys.ts'
import type { Settings } from './settings.ts'
import { valueAt, withValue } from './value-at.ts'

const AUTO: Setting<string> = { value: 'auto', origin: 'default', from: 'default' }
const NO_NETWORK: Setting<string> = { ...AUTO, value: 'none' }
const SIZES: ReadonlySet<string> = new Set(['memory', 'output', 'disk'])

export interface Row {
  readonly key: string
  readonly value: unknown
  readonly from: string
}

/** One for each value that counts; a key whose values add up has several. */
export function rowsOf(settings: Settings): readonly Row[] {
  const { model, baseUrl, models, agent, lean, off, limits, webSearch, diagnostics, sandbox, approval, agents, remoteHosts, files, store } =
    settings
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

/** What may be before the host in a URL is not shown. */
export const withoutPassword = (url: string): string =>
  url.replace(/\/\/[^/]*@/, '//[secret]@').replace(/([?&]\w*password=)[^&]*/gi, '$1[secret]')

/** The values in force as a configuration would say them, and for a key whose rows leave something out, all of it. */
export function effectiveConfig(settings: Settings): unknown {
  const { agents, off, approval, remoteHosts, files } = settings
  const adding = {
    models: Object.assign({}, ...settings.models.map(({ value }) => value).toReversed()) as object,
    agents: Object.fromEntries(agents.map(({ name, origin: _, from: __, ...fields }) => [name, fields])),
    'tools.off': [...new Set(off.map(({ value }) => value))],
    diagnostics: settings.diagnostics.flatMap(({ value }) => value),
    policy: [...new Set([...approval.rules, ...approval.projectRules])].map(({ value }) => value),
    trustedProjects: files.flatMap(({ values }) => values.trustedProjects ?? []),
    remoteHosts: [...remoteHosts],
  }
  const single = rowsOf(settings).filter(({ key }) => !Object.keys(adding).some((one) => key === one || /^(?:agents|models)\b/.test(key)))
  const isGiven = ([, value]: readonly [string, object]): boolean => Object.keys(value).length > 0
  return [...single.map(({ key, value }) => [key, value] as const), ...Object.entries(adding).filter(isGiven)].reduce<unknown>(
    (config, [key, value]) => withValue(config, key.split('.'), value),
    {},
  )
}

/** Undefined if nothing is. */
export const effectiveValue = (settings: Settings, path: readonly string[]): unknown => valueAt(effectiveConfig(settings), path)
