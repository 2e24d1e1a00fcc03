/** `mulligan doctor` checks programs, the model, the data folder and the sandbox, and says what to install. */
import { mkdtempSync, readdirSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { oneLine, sanitize, toHome, UsageError } from '@mulligan/host/light'
import {
  assistantOptions,
  nameOf,
  openEffectiveModel,
  openServers,
  readSettings,
  type Settings,
  sandboxOptions,
  servicesIn,
} from '@mulligan/host/parts'
import { type Enforcement, type LayerSupport, resolveProgram, runProgram, type SandboxError, type SandboxOptions } from '@mulligan/sandbox'
import { ripgrep } from '@mulligan/tools'
import { fromHome, openDataDir, workingFolder } from '../../paths.ts'
import { EXIT } from '../../process.ts'
import { type Colors, colorsFor } from '../../ui/colors.ts'
import type { Output } from '../../ui/output.ts'
import { type FolderFlags, plural, print, table } from '../../ui/text.ts'
import { assistant } from '../auth/assistant.ts'

/** @returns 1 if something required is missing or the configuration is invalid */
export async function doctor(flags: FolderFlags, output: Output): Promise<number> {
  const cwd = workingFolder(flags.cwd)
  const { settings, broken } = configured(cwd)
  const options = sandboxOptions(settings.sandbox, cwd, process.env)
  const [sandbox, servers, services, ...around] = await Promise.all([
    ...([probeSandbox(options), mcpServers(cwd, settings), assistantServices(settings)] as const),
    ...([node(), ripgrepCheck(), git(cwd), model(settings), data()] as const),
  ])
  const checks = [...broken, ...around, ...notes(settings), ...servers, ...services, ...sandboxChecks(sandbox, options.backend ?? 'auto')]
  const isUsable = checks.every(({ state }) => state !== 'missing')
  const lines = checks.flatMap((check) => linesOf(check, colorsFor(process.stdout)))
  print(output, flags.json, { usable: isUsable, checks, sandbox }, lines)
  return isUsable ? EXIT.ok : EXIT.failed
}

/** Returns the settings, or the defaults and what is wrong with the configuration. */
function configured(cwd: string): { readonly settings: Settings; readonly broken: readonly Check[] } {
  try {
    return { settings: readSettings(cwd, {}, process.env), broken: [] }
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    const none = mkdtempSync(join(tmpdir(), 'mulligan-doctor-'))
    const others = Object.entries(process.env).filter(([name]) => !name.startsWith('MULLIGAN_') && name !== 'XDG_CONFIG_HOME')
    try {
      const settings = readSettings(none, {}, { ...Object.fromEntries(others), HOME: none })
      const remedy = `${error.hint}\nThe other checks use the defaults.`.trimStart()
      return { settings, broken: [{ name: 'config', state: 'missing', says: error.message, remedy }] }
    } finally {
      rmdirSync(none)
    }
  }
}

const WIDTH = 10

/** Formats a check for a terminal. */
export function linesOf({ name, state, says, remedy, rows = [] }: Check, { green, yellow, red, dim }: Colors): string[] {
  const mark = { ok: green('✓'), lacking: yellow('!'), missing: red('✗'), unused: dim('-') }[state]
  const indent = ' '.repeat(WIDTH + 3)
  return [
    `${mark} ${name.padEnd(WIDTH)} ${oneLine(says, 300)}`,
    ...table(rows.map((row) => row.map((cell) => oneLine(cell, 120)))).map((line) => `${indent}${line}`),
    ...(remedy === undefined
      ? []
      : sanitize(remedy)
          .split('\n')
          .map((line) => `${indent}${dim(line)}`)),
  ]
}

export interface Check {
  readonly name: string
  /** `lacking`: optional but not available; `missing`: required but not available; `unused`: not needed because of an alternative. */
  readonly state: 'ok' | 'lacking' | 'missing' | 'unused'
  /** What was found, or what is wrong. */
  readonly says: string
  /** How to fix it. */
  readonly remedy?: string
  /** Further facts, one per row. */
  readonly rows?: readonly (readonly string[])[]
}

/** Reports the Node version. The bin script has already checked that it is new enough. */
export const node = (): Check => ({ name: 'node', state: 'ok', says: `${process.versions.node} on ${process.platform}-${process.arch}` })

export async function ripgrepCheck(): Promise<Check> {
  const lines: string[] = []
  try {
    await ripgrep(['--version'], { cwd: tmpdir(), onRecord: (line) => lines.push(line ?? '') })
    return { name: 'ripgrep', state: 'ok', says: lines[0]?.replace(/^ripgrep /, '') ?? '' }
  } catch (error) {
    return { name: 'ripgrep', state: 'missing', says: (error as Error).message, remedy: 'Run npm ci in a clone, or reinstall.' }
  }
}

export async function git(workspace: string): Promise<Check> {
  try {
    const { stdout } = await runProgram(resolveProgram('git', { workspace }) ?? 'git', ['--version'], { timeout: 10_000, cwd: tmpdir() })
    return { name: 'git', state: 'ok', says: stdout.trim().replace(/^git version /, '') }
  } catch {
    return {
      name: 'git',
      state: 'lacking',
      says: 'not found: the git tools are unavailable',
      remedy: 'Install git: apt-get install git, brew install git.',
    }
  }
}

/** Checks the model. It only asks the server to list its models, so the configured model itself may still fail. */
export async function model(settings: Settings): Promise<Check> {
  try {
    const { model } = await openEffectiveModel(settings, undefined, false, process.env)
    return { name: 'model', state: 'ok', says: `${model.id} on ${model.where}` }
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    return { name: 'model', state: 'lacking', says: error.message, remedy: error.hint }
  }
}

/** Checks the folder of notes, if one is configured. */
export function notes({ notesVault }: Pick<Settings, 'notesVault'>): readonly Check[] {
  if (!notesVault) return []
  const folder = toHome(notesVault.value, process.env)
  try {
    const { length } = readdirSync(folder)
    return [{ name: 'notes', state: 'ok', says: `${fromHome(folder)}${length === 0 ? ', empty' : ''}` }]
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException
    const says = `${fromHome(folder)}, set by ${notesVault.from}, can't be read: ${code}`
    return [{ name: 'notes', state: 'lacking', says, remedy: 'Correct it: mulligan config set notes.vault /path/to/notes' }]
  }
}

export function data(): Check {
  try {
    const { dir } = openDataDir()
    rmdirSync(mkdtempSync(join(dir, 'doctor-')))
    return { name: 'data', state: 'ok', says: fromHome(dir) }
  } catch (error) {
    const isUsage = error instanceof UsageError
    const says = isUsage ? error.message : `the data folder can't be written: ${(error as NodeJS.ErrnoException).code}`
    return { name: 'data', state: 'missing', says, remedy: isUsage ? error.hint : 'Set MULLIGAN_DATA_DIR to a writable folder.' }
  }
}

/** Seconds to wait for MCP servers. */
const MCP_WAIT = 20

/** Starts the configured MCP servers. One that can't be used costs its tools, and nothing else. */
async function mcpServers(cwd: string, settings: Settings): Promise<readonly Check[]> {
  if (settings.mcpServers.length === 0) return []
  const opened = await openServers(cwd, settings, { env: process.env, taken: [], fresh: true, wait: MCP_WAIT })
  try {
    await opened.ready()
    return opened.status().map(({ name, state, tools, why = `it did not answer in ${MCP_WAIT} s` }): Check => {
      if (state === 'off') return { name: 'mcp', state: 'unused', says: `${name}: disabled` }
      if (state === 'running') return { name: 'mcp', state: 'ok', says: `${name}: ${plural(tools, 'tool')}` }
      return { name: 'mcp', state: 'lacking', says: `${name}: ${why}`, remedy: `mulligan mcp test ${name} tries again.` }
    })
  } finally {
    await opened.close()
  }
}

/** Seconds to wait for Google, mail and Slack. */
const SERVICE_WAIT = 10

/** Asks the services that are set up. */
export async function assistantServices(settings: Settings): Promise<readonly Check[]> {
  const services = servicesIn(settings, process.env)
  if (services.length === 0) return []
  try {
    const { checkServices } = await assistant()
    const signal = AbortSignal.timeout(SERVICE_WAIT * 1000)
    const found = await checkServices(assistantOptions(settings, process.env), services, signal)
    return found.map(({ service, ok, says, remedy }): Check => {
      return { name: service, state: ok ? 'ok' : 'lacking', says, ...(remedy !== undefined && { remedy }) }
    })
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    return [{ name: services.join(), state: 'lacking', says: error.message, remedy: error.hint }]
  }
}

export interface Probed {
  readonly name: string
  readonly ok: boolean
  readonly enforces?: Enforcement | undefined
  readonly reason?: string | undefined
  readonly remedy?: string | undefined
}

export interface SandboxReport {
  /** Null if none can be opened. */
  readonly backend: string | null
  readonly backends: readonly Probed[]
  /** Whether commands run on throwaway layers; absent if no sandbox can be opened. */
  readonly layers?: LayerSupport
  /** Why no backend can be used in this folder, and what to do. */
  readonly refused?: Pick<SandboxError, 'message' | 'remedy'>
}

async function probeSandbox(options: SandboxOptions): Promise<SandboxReport> {
  const { createSandbox, probeBackends, SandboxError } = await import('@mulligan/sandbox')
  try {
    const report = reportOf(await probeBackends(options), options.backend ?? 'auto')
    if (report.backend === null) return report
    if (options.network === 'bridge') return { ...report, layers: { hold: 'none', by: WITH_NETWORK } }
    const sandbox = await createSandbox(options)
    return { ...report, layers: await sandbox.layers().finally(sandbox.close) }
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error
    return { backend: null, backends: [], refused: { message: error.message, remedy: error.remedy } }
  }
}

/** Chooses the backend. `none` is used only if named explicitly. */
export function reportOf(backends: readonly Probed[], asked: string): SandboxReport {
  const chosen = backends.find(({ name, ok }) => ok && (asked === 'auto' ? name !== 'none' : name === asked))
  return { backend: chosen?.name ?? null, backends }
}

/** Returns a check for the effective backend, and one for each that is not available. */
export function sandboxChecks({ backend, backends, layers, refused }: SandboxReport, asked: string): readonly Check[] {
  if (refused) return [{ name: 'sandbox', state: 'missing', says: refused.message, ...(refused.remedy && { remedy: refused.remedy }) }]
  const chosen = backends.find(({ name }) => name === backend)
  const others = backends.filter(({ name, ok }) => name !== backend && name !== 'none' && (asked === 'auto' || name === asked) && !ok)
  const onLayers = chosen && layers ? [layersCheck(chosen.name, layers)] : []
  return [chosen ? chosenCheck(chosen, asked) : NOTHING, ...onLayers, ...others.map((other) => absent(other, chosen !== undefined))]
}

const NOTHING: Check = {
  name: 'sandbox',
  state: 'missing',
  says: 'no sandbox can be opened: commands are refused',
  remedy:
    'Install one of the sandboxes below. "sandbox": { "backend": "none" } in your own configuration runs commands directly on this machine.',
}

function chosenCheck({ name, enforces }: Probed, asked: string): Check {
  const entries = Object.entries(enforces ?? {})
  // No backend enforces the disk limit strictly.
  const isFull = entries.every(([limit, { hold }]) => hold === 'hard' || (limit === 'disk' && hold === 'partial'))
  const says = name === 'none' ? 'none: commands run directly on this machine' : `${name}${asked === 'auto' ? '' : ', as configured'}`
  const rows = entries.map(([limit, { hold, by }]) => [nameOf(limit), hold, by])
  const needsCgroup = name !== 'none' && enforces?.memory.hold !== 'hard'
  return { name: 'sandbox', state: isFull ? 'ok' : 'lacking', says, rows, ...(needsCgroup && { remedy: CGROUP }) }
}

/** Explains what happens to the writes of a command, and when it needs approval. */
function layersCheck(backend: string, { hold, by }: LayerSupport): Check {
  const name = 'layers'
  if (hold === 'overlay')
    return { name, state: 'ok', says: `${by}: commands run without asking first; you then decide whether to keep their changes` }
  if (backend === 'none')
    return { name, state: 'unused', says: 'none without a sandbox: commands ask before they run, except simple read-only ones' }
  if (by === WITH_NETWORK) return { name, state: 'unused', says: `not used: ${by}, so they ask before they run` }
  return { name, state: 'lacking', says: `none (${by}): commands can't write; a command that needs to write asks before it runs` }
}

const WITH_NETWORK = 'commands have network access'
const CGROUP =
  'A cgroup would enforce limits on memory, processes and cores: log in through systemd so that systemd-run --user works, or run as root.'

const absent = ({ name, reason = 'it could not be opened', remedy }: Probed, isCovered: boolean): Check => ({
  name,
  state: isCovered ? 'unused' : 'missing',
  says: reason,
  ...(remedy !== undefined && { remedy }),
})
