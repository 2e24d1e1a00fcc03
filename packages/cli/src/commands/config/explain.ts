/** `mulligan config explain` describes a key, where it may be set, which value wins, and why. */

import { ANY_NAME, type ConfigKey, keysIn, keyText, oneLine, safeJson, typeText, valueAt } from '@mulligan/host/light'
import {
  configJsonSchema,
  effectiveConfig,
  environment,
  projectRule,
  readSettings,
  rowsOf,
  type Settings,
  withoutPassword,
} from '@mulligan/host/parts'
import { workingFolder } from '../../paths.ts'
import type { Output } from '../../ui/output.ts'
import { table } from '../../ui/table.ts'
import { askedKey } from './key.ts'
import type { ConfigFlags } from './show.ts'

/** @throws UsageError */
export async function explainConfig(asked: string | undefined, { cwd, json }: ConfigFlags, { out }: Output): Promise<number> {
  const settings = readSettings(workingFolder(cwd), {}, process.env)
  if (asked === undefined) {
    const keys = keysIn(configJsonSchema()).map((key) => factsOf(key))
    if (json) out(`${safeJson({ keys })}\n`)
    else {
      const rows = keys.map(({ key, type, default: value, description }) => [
        key,
        oneLine(type, 40),
        value === undefined ? '' : shown(value),
        oneLine(description, 120),
      ])
      out(`${table([['KEY', 'TYPE', 'DEFAULT', 'WHAT IT IS'], ...rows]).join('\n')}\n`)
    }
    return 0
  }
  const { path, keys } = askedKey(asked)
  const explained = keys.map((key) => explain({ ...key, path: placed(key, path) }, settings))
  if (json) out(`${safeJson({ keys: explained })}\n`)
  else out(explained.map(textOf).join('\n'))
  return 0
}

/** `agents.NAME.model` with the name that was asked for. */
const placed = ({ path }: ConfigKey, asked: readonly string[]): readonly string[] => [...asked, ...path.slice(asked.length)]

function factsOf(key: ConfigKey) {
  const { path, node, variables, flag } = key
  return {
    key: keyText(path),
    type: typeText(node),
    description: node.description ?? '',
    ...(node.default !== undefined && { default: node.default }),
    ...(flag !== undefined && { flag }),
    variables,
    project: projectRule(path)?.says ?? '',
  }
}

interface Layer {
  readonly from: string
  readonly value: unknown
  readonly counts: boolean
  readonly why: string
}

function explain(key: ConfigKey, settings: Settings) {
  const value = key.path.includes(ANY_NAME) ? undefined : valueAt(effectiveConfig(settings), key.path)
  return { ...factsOf(key), ...(value !== undefined && { value }), layers: layersOf(key, settings) }
}

/** Who sets it, the highest first. */
function layersOf({ path, node, key }: ConfigKey, settings: Settings): readonly Layer[] {
  const now = environment(process.env)
  const given = [
    { from: now.from(key), value: valueAt(now.values, path) },
    ...settings.files.map(({ shown: from, values }) => ({ from, value: valueAt(values, path) })),
    { from: 'default', value: node.default },
  ]
    .filter(({ value }) => value !== undefined)
    .map(({ from, value }) => ({ from, value: typeof value === 'string' ? withoutPassword(value) : value }))
  const counting = countingFor(path, settings)
  return given.map(({ from, value }) => {
    const counts = counting.size === 0 ? from === 'default' || key === '$schema' : counting.has(from)
    const waits = settings.withheld.some((one) => one.from === from && one.key === keyText(path))
    const why = waits ? 'waiting for your approval: mulligan trust' : whyNot(path, from, now.from(key), [...counting])
    return { from, value, counts: counts && !waits, why: counts && !waits ? '' : why }
  })
}

/** Where what is in force of a key comes from. */
function countingFor(path: readonly string[], settings: Settings): ReadonlySet<string> {
  const text = keyText(path)
  const from = rowsOf(settings).flatMap((row) => (row.key === text || text.startsWith(`${row.key}.`) ? [row.from] : []))
  const own = settings.files.find(({ origin }) => origin === 'user')?.shown
  // Of two agents of one name the person's counts.
  return new Set(path[0] === 'agents' && own !== undefined && from.includes(own) ? [own] : from)
}

function whyNot(path: readonly string[], from: string, variable: string, counting: readonly string[]): string {
  const [winner = ''] = counting
  const may = projectRule(path)?.may
  if (variable !== '' && winner === variable) return 'the environment overrides it'
  if (from !== 'default' && may === 'lower') return 'the lower limit wins'
  if (from !== 'default' && may === 'tighten') return 'the stricter value wins'
  if (path[0] === 'agents') return 'you have an agent with that name'
  return `${winner} overrides it`
}

const shown = (value: unknown): string => oneLine(typeof value === 'string' ? value : (safeJson(value) ?? ''), 120)

function textOf({ key, type, description, project, variables, flag, layers, ...rest }: ReturnType<typeof explain>): string {
  const rows = [
    ['type', type],
    ...('default' in rest ? [['default', shown(rest.default)]] : []),
    ...(flag === undefined ? [] : [['flag', `${flag} of mulligan run`]]),
    ...(variables.length === 0 ? [] : [['variable', variables.join(', or ')]]),
    ['project', `a project's file ${project}`],
    ['in force', 'value' in rest ? shown(rest.value) : 'nothing'],
    ...layers.map(({ from, value, counts, why }, at) => [
      at === 0 ? 'set by' : '',
      `${from}: ${shown(value)}${counts ? '' : `  (not effective: ${why})`}`,
    ]),
  ]
  return `${key}\n  ${description}\n${table(rows.map((row) => row.map((cell) => cell ?? '')))
    .map((row) => `  ${row}`)
    .join('\n')}\n`
}
