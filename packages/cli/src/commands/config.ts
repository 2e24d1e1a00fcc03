/** `mulligan config`: what is in force, and where it comes from. */
import { sizeText } from '@mulligan/sandbox'
import { readAgents } from '../agents/agents.ts'
import { warnOfNames } from '../agents/warn.ts'
import type { Setting } from '../config/setting.ts'
import { readSettings, type Settings } from '../config/settings.ts'
import { UsageError } from '../exit.ts'
import { chooseModel, contextOf } from '../models/open.ts'
import { workingFolder } from '../paths.ts'
import type { Output } from '../ui/output.ts'
import { oneLine, safeJson } from '../ui/sanitize.ts'
import { table } from '../ui/table.ts'

export interface ConfigFlags {
  readonly cwd?: string
  readonly json?: boolean
}

const AUTO: Setting<string> = { value: 'auto', origin: 'default', from: 'default' }
const NO_NETWORK: Setting<string> = { ...AUTO, value: 'none' }
const SIZES: ReadonlySet<string> = new Set(['memory', 'output', 'disk'])

interface Row {
  readonly key: string
  readonly value: unknown
  readonly from: string
}

/** @throws UsageError when a file is wrong */
export async function configCommand(what: 'path' | undefined, flags: ConfigFlags, output: Output): Promise<number> {
  const { out } = output
  const cwd = workingFolder(flags.cwd)
  const settings = readSettings(cwd)
  const files = settings.files.map(({ path, found }) => ({ path, found }))
  if (what === 'path') {
    if (flags.json) out(`${safeJson({ files })}\n`)
    else for (const { path, found } of files) out(`${oneLine(path, 1000)}${found ? '' : '  (not there)'}\n`)
    return 0
  }
  const rows = [...rowsOf(settings), ...(await contextRow(settings))]
  if (flags.json) out(`${safeJson({ settings: rows, files })}\n`)
  else {
    const cells = rows.map(({ key, value, from }) => [key, oneLine(typeof value === 'string' ? value : (safeJson(value) ?? ''), 80), from])
    out(`${table([['KEY', 'VALUE', 'FROM'], ...cells]).join('\n')}\n`)
  }
  await warnOfNames(cwd, settings, await readAgents(cwd, settings), output)
  return 0
}

function rowsOf(settings: Settings): readonly Row[] {
  const { model, baseUrl, agent, lean, off, limits, webSearch, diagnostics, sandbox, approval, agents, remoteHosts, files } = settings
  const row = (key: string, setting: Setting<unknown> | undefined): Row[] =>
    setting ? [{ key, value: setting.value, from: setting.from }] : []
  return [
    ...row('model', model),
    ...row('baseUrl', baseUrl && { ...baseUrl, value: withoutPassword(baseUrl.value) }),
    ...row('agent', agent),
    ...agents.map(({ name, description = '', from }) => ({ key: `agents.${name}`, value: description, from })),
    ...row('tools.lean', lean),
    ...off.map(({ value, from }) => ({ key: 'tools.off', value, from })),
    ...Object.entries(limits)
      .filter(([, { value }]) => Number.isFinite(value))
      .flatMap(([key, setting]) => row(`limits.${key}`, setting)),
    ...row('web.search', webSearch),
    ...diagnostics.flatMap((setting) => row('diagnostics', setting)),
    ...row('mode', approval.mode),
    ...Object.entries({ ...sandbox, backend: sandbox.backend ?? AUTO, network: sandbox.network ?? NO_NETWORK }).flatMap(([key, setting]) =>
      row(`sandbox.${key}`, setting && { ...setting, value: SIZES.has(key) ? sizeText(setting.value as number) : setting.value }),
    ),
    ...[...new Set([...approval.rules, ...approval.projectRules])].flatMap((rule) => row('policy', rule)),
    ...remoteHosts.map((host) => ({ key: 'remoteHosts', value: host, from: files.find(({ origin }) => origin === 'user')?.shown ?? '' })),
  ]
}

/** Of the model; none where no model is named, or none that there is. */
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

const withoutPassword = (url: string): string => url.replace(/\/\/[^/@]*@/, '//[secret]@')
