/** The model that is in force. A project's file can't by itself send the conversation away from this machine. */
import { UsageError } from '../exit.ts'
import { HERE, normalBaseUrl, whereRuns } from '../models/base-url.ts'
import { type ConfiguredModel, chooseModel, openModel } from '../models/open.ts'
import type { Env } from '../models/provider.ts'
import { isCloud, providerEntry } from '../models/registry.ts'
import { fromHome } from '../paths.ts'
import type { Ask } from '../ui/ask.ts'
import type { Setting } from './setting.ts'
import type { Settings } from './settings.ts'

export interface ModelInForce extends ConfiguredModel {
  /** For the person, where a project's file had a say or the model was found: it goes on after "The model is". */
  readonly notice?: string
}

export interface Person {
  /** Asks which model, where several are found. Default: nobody is there. */
  readonly ask?: Ask
  readonly signal?: AbortSignal
}

/**
 * Without a model in the settings, the server at the base URL is asked for its only one; without either, the servers on this machine
 * are looked for.
 * @param named of the agent; it stands above the settings, a flag above it
 * @throws UsageError
 */
export async function openModelInForce(
  settings: Settings,
  named: Setting<string> | undefined,
  opensInReasoning: boolean,
  env: Env = process.env,
  person: Person = {},
): Promise<ModelInForce> {
  const { baseUrl } = settings
  const model = settings.model?.origin === 'flag' ? settings.model : (named ?? settings.model)
  // Before anything is sent, also a question about the model.
  if (baseUrl && !(model && isCloud(idOf(model.value, baseUrl.value))))
    allow(baseUrl, false, whereRuns(normalBaseUrl(baseUrl.value)), settings)
  const found = await findModel(model, baseUrl, env, person)
  const opened = await openModel(
    { model: found.model, ...(baseUrl?.origin === 'flag' && { baseUrl: baseUrl.value }), opensInReasoning },
    { ...env, ...found.env, MULLIGAN_BASE_URL: baseUrl?.value },
    settings.models,
  ).catch((error: unknown) => {
    // Whoever lacks the key of a model that the project can't choose is told that first.
    const host = model && cloudHost(model.value, baseUrl?.value)
    if (model && host !== undefined) allow(model, true, host, settings)
    throw error
  })
  const { id, where } = opened.model
  const cloud = isCloud(id) || opened.passedOn
  if (model && cloud) allow(model, cloud, where, settings)
  if (found.how !== undefined) return { ...opened, notice: `${id} on ${where}, ${found.how}` }
  const told = [model, cloud ? undefined : baseUrl].find((one) => one?.origin === 'project')
  return { ...opened, ...(told && { notice: `${id} on ${where}, from ${told.from}` }) }
}

interface Found {
  readonly model: string
  readonly how?: string
  readonly env?: Env
}

/** @throws UsageError */
async function findModel(
  model: Setting<string> | undefined,
  baseUrl: Setting<string> | undefined,
  env: Env,
  person: Person,
): Promise<Found> {
  if (model) return { model: model.value }
  if (baseUrl) {
    const { modelAt } = await import('../models/at-base-url.ts')
    return { model: `openai-compatible/${await modelAt(baseUrl.value, env, person.signal)}`, how: 'the only one of its server' }
  }
  const { discoverModel } = await import('../models/discover.ts')
  const { id, how, chosen } = await discoverModel(env, person)
  // The key is for a server that somebody named, not for whoever happens to listen here.
  return { model: id, how: `${how}; mulligan models --use NAME chooses another`, ...(!chosen && { env: { MULLIGAN_API_KEY: undefined } }) }
}

/** What the model is called in full; one that is none is told of later. */
function idOf(model: string, baseUrl: string): string {
  try {
    const { provider, name } = chooseModel(model, baseUrl)
    return `${provider}/${name}`
  } catch {
    return model
  }
}

/** Undefined where it is no model of a cloud. */
function cloudHost(model: string, baseUrl: string | undefined): string | undefined {
  try {
    return providerEntry(chooseModel(model, baseUrl).provider).cloud?.host
  } catch {
    return undefined
  }
}

/** @throws UsageError where only a project's file says so */
function allow({ origin, value, from }: Setting<string>, cloud: boolean, where: string, { remoteHosts, files }: Settings): void {
  if (origin !== 'project' || where === HERE || remoteHosts.includes(where)) return
  const own = files.find(({ origin }) => origin === 'user')?.path ?? 'config.json'
  throw new UsageError(
    `${from} names ${value}, which would send this conversation to ${where}; a project can't decide that`,
    `To allow it once: ${cloud ? '--model' : '--base-url'} ${value}. For good: "remoteHosts": [${JSON.stringify(where)}] in ${fromHome(own)}.`,
  )
}
