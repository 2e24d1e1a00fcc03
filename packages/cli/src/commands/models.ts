/** `mulligan models` lists the models of local servers, marks the default, and changes it. */

import { nearest } from '@mulligan/core/executor'
import { type Env, oneLine, type Remembered, readRemembered, remember, safeJson, UsageError } from '@mulligan/host/light'
import {
  type Candidate,
  type Cloud,
  candidatesOf,
  HERE,
  idOf,
  isCloud,
  isHere,
  isProvider,
  modelsAt,
  PROVIDERS,
  probeServers,
  profileOf,
  readSettings,
  type ServerReport,
} from '@mulligan/host/parts'
import { workingFolder } from '../paths.ts'
import type { Output } from '../ui/output.ts'
import { type FolderFlags, plural, print, table, thousands } from '../ui/text.ts'

export interface ModelsFlags extends FolderFlags {
  /** `PROVIDER/NAME`, or a name that only one server has. */
  readonly use?: string
}

/** The model that the next run uses without a flag, and why. */
interface Chosen {
  readonly id: string
  readonly from: string
}

interface CloudRow {
  readonly provider: string
  readonly cloud: Cloud
  /** The environment variable that contains its key. */
  readonly key: string | undefined
}

/** @returns the exit code: 1 if there is no model that a run would use. @throws UsageError */
export async function modelsCommand(flags: ModelsFlags, { out, err }: Output, env: Env = process.env): Promise<number> {
  const settings = readSettings(workingFolder(flags.cwd), {}, env)
  const reports = await probeServers(env)
  const candidates = candidatesOf(reports)
  if (flags.use !== undefined) {
    const choice = chooseToUse(flags.use, candidates, reports)
    remember(choice, env)
    const over = settings.model ? `\nBut ${settings.model.from} names ${oneLine(settings.model.value, 100)}, and overrides it.` : ''
    err(`${oneLine(idOf(choice), 200)} on ${oneLine(choice.where)} is now the default model.${over}\n`)
    if (flags.json) out(`${safeJson({ use: idOf(choice), where: choice.where })}\n`)
    return 0
  }
  const chosen = chosenOf(settings.model && { id: settings.model.value, from: settings.model.from }, candidates, readRemembered(env))
  const clouds = Object.entries(PROVIDERS).flatMap(([provider, { cloud }]) =>
    cloud ? [{ provider, cloud, key: cloud.keys.find((name) => env[name]?.trim()) }] : [],
  )
  const { baseUrl } = settings
  const names = baseUrl ? await modelsAt(baseUrl.value, env, baseUrl.origin !== 'project') : []
  const configured = names.map((name) => ({ id: `openai-compatible/${name}`, server: baseUrl?.value ?? '' }))
  const lines = [...asTable(candidates, clouds, chosen, configured), '', ...serverLines(reports), ...chosenLines(chosen)]
  print({ out }, flags.json, { ...asJson(candidates, reports, clouds, chosen), configured }, lines)
  return chosen ? 0 : 1
}

/** @throws UsageError */
function chooseToUse(use: string, candidates: readonly Candidate[], reports: readonly ServerReport[]): Candidate {
  const byId = candidates.filter((one) => idOf(one) === use)
  const fitting = byId.length > 0 ? byId : candidates.filter(({ name }) => name === use)
  const [choice, other] = fitting
  if (other)
    throw new UsageError(`${use} is available on several servers`, `Choose one: ${fitting.map((one) => `--use ${idOf(one)}`).join(', ')}`)
  if (choice?.passedTo !== undefined || isCloud(use))
    throw new UsageError(
      `${use} runs in the cloud; only models on your own servers can be the default`,
      `Name it when you want it: --model ${use}, MULLIGAN_MODEL, or "model" in your configuration.`,
    )
  if (choice) return choice
  throw notThere(use, candidates, reports)
}

function notThere(use: string, candidates: readonly Candidate[], reports: readonly ServerReport[]): UsageError {
  const prefix = use.split('/')[0] ?? ''
  const report = isProvider(prefix) ? reports.find(({ server }) => server.provider === prefix) : undefined
  if (report && report.state !== 'running')
    return new UsageError(
      `${report.server.title} can't be reached to check ${use} at ${report.address}: ${report.why}`,
      `To start it: ${report.server.start}. Another address: ${report.server.variable}.`,
    )
  const [near] = nearest(use, candidates.map(idOf), 1)
  return new UsageError(
    `no server on this machine has ${use}`,
    near ? `Did you mean --use ${near}?` : 'mulligan models lists the available ones.',
  )
}

function chosenOf(named: Chosen | undefined, candidates: readonly Candidate[], before: Remembered | undefined): Chosen | undefined {
  if (named) return named
  const kept = candidates.find((one) => before && idOf(one) === idOf(before) && one.address === before.address && !one.passedTo)
  if (kept) return { id: idOf(kept), from: 'chosen before' }
  const here = candidates.filter(isHere)
  return here[0] && { id: idOf(here[0]), from: here.length === 1 ? 'the only one' : 'the first one; in a terminal you are asked' }
}

const HEAD = ['MODEL', 'WHERE', 'CONTEXT', 'SIZE', 'TOOLS', 'STATE']

function asTable(
  candidates: readonly Candidate[],
  clouds: readonly CloudRow[],
  chosen: Chosen | undefined,
  configured: readonly { readonly id: string; readonly server: string }[],
): readonly string[] {
  const own = configured.map(({ id, server }) => [oneLine(id, 80), oneLine(server, 60), '?', '', '?', 'at the configured address'])
  const rows = candidates.map((one) => [
    `${oneLine(idOf(one), 80)}${idOf(one) === chosen?.id ? ' *' : ''}`,
    oneLine(one.where, 40),
    one.contextTokens === undefined ? '?' : thousands(one.contextTokens),
    one.bytes === undefined ? '' : sizeOf(one.bytes),
    one.tools === undefined ? '?' : one.tools ? 'yes' : 'no',
    one.loaded ? 'loaded' : '',
  ])
  const others = clouds.map(({ provider, cloud: { host, keys }, key }) => [
    `${provider}/NAME`,
    host,
    '',
    '',
    'yes',
    key === undefined ? `asks for ${keys[0]}` : `${key} is set; used only when named`,
  ])
  return table([HEAD, ...own, ...rows, ...others])
}

const GB = 1_000_000_000

const sizeOf = (bytes: number): string => (bytes >= GB ? `${(bytes / GB).toFixed(1)} GB` : `${Math.round(bytes / 1_000_000)} MB`)

const serverLines = (reports: readonly ServerReport[]): readonly string[] =>
  reports.map(({ server, address, state, why, models, others }) => {
    const count = `${plural(models.length, 'model')}${others > 0 ? `, and ${others} that cannot chat` : ''}`
    const says = state === 'running' ? count : state === 'absent' ? why : `something is there, but ${oneLine(why ?? '', 120)}`
    return `${server.title}, ${address}: ${says}`
  })

const chosenLines = (chosen: Chosen | undefined): readonly string[] =>
  chosen
    ? [`A run without --model uses ${oneLine(chosen.id, 80)} (${chosen.from}). To choose another: mulligan models --use NAME`]
    : ['There is no model for a run without --model: start one of these servers, or name a model.']

function profileFields(name: string): { readonly profile?: string; readonly thinks?: string } {
  const profile = profileOf(name)
  return profile ? { profile: profile.name, thinks: profile.thinks } : {}
}

const asJson = (
  candidates: readonly Candidate[],
  reports: readonly ServerReport[],
  clouds: readonly CloudRow[],
  chosen: Chosen | undefined,
) => ({
  models: candidates.map(({ address, passedTo: _, chat: __, ...one }) => ({
    id: idOf(one),
    ...one,
    local: one.where === HERE,
    server: address,
    ...profileFields(one.name),
    chosen: idOf(one) === chosen?.id,
  })),
  servers: reports.map(({ server, address, state, why }) => ({
    provider: server.provider,
    address,
    state,
    ...(why !== undefined && { why }),
  })),
  clouds: clouds.map(({ provider, cloud, key }) => ({ provider, host: cloud.host, keys: cloud.keys, keySet: key !== undefined })),
  ...(chosen && { chosen }),
})
