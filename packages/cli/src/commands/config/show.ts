/** `mulligan config show`, `get`, `explain` and `path` print the configuration and where it comes from. */
import { nearest } from '@mulligan/core/executor'
import {
  ANY_NAME,
  type ConfigKey,
  isAbout,
  keysIn,
  keyText,
  oneLine,
  parseKey,
  safeJson,
  sanitize,
  typeText,
  UsageError,
  valueAt,
} from '@mulligan/host/light'
import {
  chooseModel,
  configJsonSchema,
  contextOf,
  effectiveConfig,
  effectiveValue,
  environment,
  projectRule,
  type Row,
  readAgents,
  readSettings,
  rowsOf,
  type Settings,
  withoutPassword,
} from '@mulligan/host/parts'
import { workingFolder } from '../../paths.ts'
import { EXIT } from '../../process.ts'
import { tellUntrusted } from '../../trust.ts'
import type { Output } from '../../ui/output.ts'
import { type FolderFlags, print, table } from '../../ui/text.ts'
import { warnOfNames } from '../agents.ts'

/** `mulligan config path`. @throws UsageError if a file is invalid */
export async function configPath({ cwd, json }: FolderFlags, output: Output): Promise<number> {
  const files = filesIn(readSettings(workingFolder(cwd), {}, process.env))
  const lines = files.map(({ path, found }) => `${oneLine(path, 1000)}${found ? '' : '  (not there)'}`)
  print(output, json, { files }, lines)
  return 0
}

/** @throws UsageError if a file is invalid */
export async function showConfig(flags: FolderFlags, output: Output): Promise<number> {
  const cwd = workingFolder(flags.cwd)
  const settings = readSettings(cwd, {}, process.env)
  const agents = await readAgents(cwd, settings, process.env)
  const untrusted = tellUntrusted(cwd, { settings, agents }, output)
  const rows = [...rowsOf(settings), ...(await contextRow(settings))]
  const cells = rows.map(({ key, value, from }) => [key, shown(value, 80), from])
  print(output, flags.json, { settings: rows, files: filesIn(settings), ...untrusted }, table([['KEY', 'VALUE', 'FROM'], ...cells]))
  await warnOfNames(cwd, settings, agents, output)
  return 0
}

const filesIn = ({ files }: Settings) => files.map(({ path, found }) => ({ path, found }))

/** Returns the context row of the model; none if no model, or an unknown one, is configured. */
async function contextRow({ model, baseUrl }: Settings): Promise<readonly Row[]> {
  const provider = providerOf(model?.value, baseUrl?.value)
  if (provider === undefined) return []
  const { tokens, given } = await contextOf(provider, process.env)
  return [{ key: 'context', value: tokens, from: given ? 'MULLIGAN_CONTEXT' : 'default' }]
}

function providerOf(model: string | undefined, baseUrl: string | undefined): string | undefined {
  try {
    return chooseModel(model, baseUrl).provider
  } catch (error) {
    if (error instanceof UsageError) return undefined
    throw error
  }
}

/** @returns 1 if the key has no effective value. @throws UsageError */
export async function getConfig(key: string, { cwd, json }: FolderFlags, output: Output): Promise<number> {
  const { path } = askedKey(key)
  const value = effectiveValue(readSettings(workingFolder(cwd), {}, process.env), path)
  const lines = value === undefined ? [] : [typeof value === 'string' ? sanitize(value) : (safeJson(value) ?? '')]
  print(output, json, { key, value: value ?? null }, lines)
  return value === undefined ? EXIT.failed : EXIT.ok
}

export interface AskedKey {
  readonly path: readonly string[]
  /** The matching keys: the key itself, or all keys of a group such as `limits`. */
  readonly keys: readonly ConfigKey[]
}

/** @throws UsageError that suggests the nearest key */
export function askedKey(text: string): AskedKey {
  const all = keysIn(configJsonSchema())
  const path = parseKey(text)
  const keys = path === undefined ? [] : all.filter((key) => isAbout(key, path) || isAbove(path, key))
  if (path !== undefined && keys.length > 0) return { path, keys }
  const [near] = nearest(
    text,
    all.map(({ key }) => key),
    1,
  )
  throw new UsageError(
    `there is no key ${JSON.stringify(oneLine(text, 80))}${near ? `; did you mean ${near}?` : ''}`,
    'mulligan config explain lists all keys.',
  )
}

const isAbove = (path: readonly string[], { path: whole }: ConfigKey): boolean => isAbout({ path: whole.slice(0, path.length) }, path)

/** @throws UsageError */
export async function explainConfig(asked: string | undefined, { cwd, json }: FolderFlags, output: Output): Promise<number> {
  const settings = readSettings(workingFolder(cwd), {}, process.env)
  if (asked === undefined) {
    const keys = keysIn(configJsonSchema()).map((key) => factsOf(key))
    const rows = keys.map(({ key, type, default: value, description }) => [
      ...[key, oneLine(type, 40), value === undefined ? '' : shown(value)],
      oneLine(description, 120),
    ])
    print(output, json, { keys }, table([['KEY', 'TYPE', 'DEFAULT', 'WHAT IT IS'], ...rows]))
    return 0
  }
  const { path, keys } = askedKey(asked)
  const explained = keys.map((key) => explain({ ...key, path: placed(key, path) }, settings))
  print(output, json, { keys: explained }, [explained.map(textOf).join('\n').trimEnd()])
  return 0
}

/** Returns the path with the name that was asked for, as in `agents.NAME.model`. */
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

/** Returns the sources that set the key, highest precedence first. */
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

/** Returns the sources of the effective value. */
function countingFor(path: readonly string[], settings: Settings): ReadonlySet<string> {
  const text = keyText(path)
  const from = rowsOf(settings).flatMap((row) => (row.key === text || text.startsWith(`${row.key}.`) ? [row.from] : []))
  const own = settings.files.find(({ origin }) => origin === 'user')?.shown
  // If two agents have the same name, the user's takes precedence.
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

const shown = (value: unknown, most = 120): string => oneLine(typeof value === 'string' ? value : (safeJson(value) ?? ''), most)

function textOf({ key, type, description, project, variables, flag, layers, ...rest }: ReturnType<typeof explain>): string {
  const rows = [
    ['type', type],
    ...('default' in rest ? [['default', shown(rest.default)]] : []),
    ...(flag === undefined ? [] : [['flag', `${flag} of mulligan run`]]),
    ...(variables.length === 0 ? [] : [['variable', variables.join(', or ')]]),
    ['project', `a project's file ${project}`],
    ['value', 'value' in rest ? shown(rest.value) : 'nothing'],
    ...layers.map(({ from, value, counts, why }, at) => [
      at === 0 ? 'set by' : '',
      `${from}: ${shown(value)}${counts ? '' : `  (not effective: ${why})`}`,
    ]),
  ]
  return `${key}\n  ${description}\n${table(rows.map((row) => row.map((cell) => cell ?? '')))
    .map((row) => `  ${row}`)
    .join('\n')}\n`
}
