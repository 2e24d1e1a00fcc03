/** Determines the effective model. A project's values have already been filtered; this file decides where the API key is sent. */

import type { AgentModel } from '@mulligan/agent'
import type { Ask } from '../common/ask.ts'
import type { Env } from '../common/env.ts'
import { UsageError } from '../common/errors.ts'
import { fromHome } from '../common/paths.ts'
import type { Setting } from '../common/setting.ts'
import type { Settings } from '../config/settings.ts'
import { HERE, normalBaseUrl } from '../models/base-url.ts'
import { type ConfiguredModel, openModel } from '../models/open.ts'
import { isCloud, isProvider, providerEntry } from '../models/registry.ts'

export interface EffectiveModel extends ConfiguredModel {
  /** Message for the user if a project's file affected the model or it was found by discovery. Follows "The model is". */
  readonly notice?: string
}

export interface Person {
  /** Asks the user if several models are found. Default: nobody can be asked. */
  readonly ask?: Ask
  readonly signal?: AbortSignal
}

/**
 * Opens the effective model. If the settings name none, asks the server at the base URL for its only model; without a base URL either,
 * looks for servers on this machine.
 * @param named the agent's model; it overrides the settings, and a flag overrides it
 * @throws UsageError
 */
export async function openEffectiveModel(
  settings: Settings,
  named: Setting<string> | undefined,
  opensInReasoning: boolean,
  env: Env,
  person: Person = {},
): Promise<EffectiveModel> {
  const { baseUrl } = settings
  const model = settings.model?.origin === 'flag' ? settings.model : (named ?? settings.model)
  const safe = (await isKeyFor(model, settings, env)) ? env : { ...env, MULLIGAN_API_KEY: undefined }
  const found = await findModel(model, baseUrl, safe, person)
  const configured = await openModel(
    { model: found.model, ...(baseUrl?.origin === 'flag' && { baseUrl: baseUrl.value }), opensInReasoning },
    { ...safe, ...found.env, MULLIGAN_BASE_URL: baseUrl?.value },
    settings.models,
  )
  const { id, where } = configured.model
  const reopen = reopenOf(id, model, baseUrl, opensInReasoning)
  const opened = { ...configured, model: { ...configured.model, ...(reopen && { reopen }) } }
  if (model && opened.passedOn && !isCloud(id)) mayPassOn(model, where, settings, env)
  const withoutKey =
    env['MULLIGAN_API_KEY'] && !safe.MULLIGAN_API_KEY ? ', without MULLIGAN_API_KEY, which is sent only to a server that you name' : ''
  if (found.how !== undefined) return { ...opened, notice: `${id} on ${where}, ${found.how}${withoutKey}` }
  const told = [model, isCloud(id) || opened.passedOn ? undefined : baseUrl].find((one) => one?.origin === 'project')
  return { ...opened, ...(told && { notice: `${id} on ${where}, from ${told.from}${withoutKey}` }) }
}

/**
 * Returns what a session remembers of the model; nothing if a project's file or discovery chose it, which would lift the limits on where
 * keys and the conversation may go. A cloud provider's other address is remembered only if the command line named it.
 */
function reopenOf(
  id: string,
  model: Setting<string> | undefined,
  baseUrl: Setting<string> | undefined,
  opensInReasoning: boolean,
): AgentModel['reopen'] {
  const named = [model, baseUrl].filter((one) => one !== undefined)
  if (named.length === 0 || named.some(({ origin }) => origin === 'project')) return undefined
  const isUsed = baseUrl !== undefined && (baseUrl.origin === 'flag' || !providerEntry(providerOf(id)).cloud)
  return { ...(isUsed && { baseUrl: normalBaseUrl(baseUrl.value) }), ...(opensInReasoning && { opensInReasoning: true }) }
}

/**
 * Whether `MULLIGAN_API_KEY` is meant for this server. A user who names a server and sets a key means that server; a server chosen by a
 * project gets the key only if it is also the user's own.
 */
async function isKeyFor(model: Setting<string> | undefined, { baseUrl, word: { own } }: Settings, env: Env): Promise<boolean> {
  if (baseUrl) return baseUrl.origin !== 'project' || isSameOrigin(baseUrl.value, own.baseUrl)
  if (model?.origin !== 'project') return true
  const provider = providerOf(model.value)
  if (provider === providerOf(own.model ?? '')) return true
  const server = isProvider(provider) ? await providerEntry(provider).server?.() : undefined
  return server !== undefined && Boolean(env[server.variable])
}

const providerOf = (model: string): string => model.split('/')[0] ?? ''

const isSameOrigin = (url: string, other: string | undefined): boolean =>
  other !== undefined && URL.canParse(url) && URL.canParse(other) && new URL(url).origin === new URL(other).origin

interface Found {
  readonly model: string
  readonly how?: string
  readonly env?: Env
}

/** Finds a model when the settings name none. @throws UsageError */
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
  // The key is for a server that the user named, not for whatever happens to listen here.
  return { model: id, how: `${how}; mulligan models --use NAME chooses another`, ...(!chosen && { env: { MULLIGAN_API_KEY: undefined } }) }
}

/**
 * Checks whether the conversation may leave this machine; only the server knows that it forwards it.
 * @throws UsageError if only a project's file chose the model
 */
function mayPassOn({ origin, value, from }: Setting<string>, where: string, { remoteHosts, files }: Settings, env: Env): void {
  if (origin !== 'project' || where === HERE || remoteHosts.includes(where)) return
  const own = files.find(({ origin }) => origin === 'user')?.path ?? 'config.json'
  throw new UsageError(
    `${from} names ${value}, which would send this conversation to ${where}; a project can't decide that`,
    `To allow it once: --model ${value}. For good: "remoteHosts": [${JSON.stringify(where)}] in ${fromHome(own, env)}.`,
  )
}
