/** Opens a model by `PROVIDER/NAME`. */
import type { AgentModel } from '@mulligan/agent'
import { nearest } from '@mulligan/core/executor'
import { type Family, families } from '@mulligan/repair'
import type { Env } from '../common/env.ts'
import { UsageError } from '../common/errors.ts'
import { whereRuns } from './base-url.ts'
import { type ModelSettings, pricesOf, settingsOf } from './own-settings.ts'
import { profileOf, type Sampling } from './profiles.ts'
import { type ModelRequest, type OpenedModel, samplingFor } from './provider.ts'
import { isCloud, isProvider, PROVIDER_NAMES, providerEntry } from './registry.ts'
import { OLLAMA_CLOUD } from './servers/server.ts'

/** Ways to name a model, for hints. */
export const WAYS = [
  'Name one in one of these ways (mulligan models lists those on this machine; or set MULLIGAN_MODEL and MULLIGAN_BASE_URL):',
  '  --model ollama/NAME                                   Ollama; also lmstudio/NAME, llamacpp/NAME, vllm/NAME',
  '  --model NAME --base-url http://localhost:8080/v1      any OpenAI-compatible server',
  '  --model anthropic/NAME, openai/NAME, google/NAME      in the cloud, with its key in the environment',
].join('\n')

/**
 * Determines the provider and the model. A cloud provider is never chosen just because its key is set.
 * @throws UsageError
 */
export function chooseModel(model: string | undefined, baseUrl: string | undefined) {
  if (!model) throw new UsageError('no model was named', WAYS)
  const slash = model.indexOf('/')
  const prefix = slash === -1 ? model : model.slice(0, slash)
  const name = slash === -1 ? '' : model.slice(slash + 1)
  if (isProvider(prefix) && (name !== '' || baseUrl === undefined)) {
    if (name === '')
      throw new UsageError(`--model ${model} names a provider but no model`, `Write --model ${prefix}/NAME. mulligan models lists them.`)
    return { provider: prefix, name }
  }
  if (baseUrl !== undefined) return { provider: 'openai-compatible', name: model }
  if (slash === -1) throw new UsageError(`--model ${model} does not name a provider`, WAYS)
  const [near] = nearest(prefix, PROVIDER_NAMES, 1)
  throw new UsageError(
    `there is no provider "${prefix}"`,
    near
      ? `Did you mean --model ${near}/${name}?`
      : `The providers are ${PROVIDER_NAMES.join(', ')}; with --base-url the model may have any name.`,
  )
}

export interface ConfiguredModel {
  readonly model: AgentModel
  /** Describes to the user, in a few words, what the server is doing while nothing arrives. Never throws. */
  readonly status?: (signal: AbortSignal) => Promise<string | undefined>
  /** Returns the same model with its responses as the server sent them; absent if none are repaired. */
  readonly unrepaired?: OpenedModel['unrepaired']
  /** The server forwards the conversation to another host. */
  readonly passedOn: boolean
  readonly secrets: readonly string[]
}

export interface ModelFlags {
  readonly model?: string
  readonly baseUrl?: string
  readonly opensInReasoning?: boolean
}

/**
 * Returns a model's context size in tokens, and whether the environment sets it.
 * @throws UsageError
 */
export async function contextOf(provider: string, env: Env): Promise<{ readonly tokens: number; readonly given: boolean }> {
  const given = env['MULLIGAN_CONTEXT']
  if (!given) return { tokens: (await providerEntry(provider).load()).CONTEXT_TOKENS, given: false }
  const tokens = Number(given)
  if (!Number.isInteger(tokens) || tokens < 1024)
    throw new UsageError(`MULLIGAN_CONTEXT=${given} must be a whole number of tokens, at least 1024`, 'export MULLIGAN_CONTEXT=32768')
  return { tokens, given: true }
}

/**
 * Opens a model.
 * @param own model settings in the user's files
 * @throws UsageError
 */
export async function openModel(flags: ModelFlags, env: Env, own: ModelSettings = []): Promise<ConfiguredModel> {
  const local = env['MULLIGAN_BASE_URL'] || undefined
  const { provider, name } = chooseModel(flags.model ?? env['MULLIGAN_MODEL'], flags.baseUrl ?? local)
  const { load, cloud } = providerEntry(provider)
  // A cloud provider's key is sent to another server only if the command line says so.
  const baseUrl = flags.baseUrl ?? (cloud ? undefined : local)
  const id = `${provider}/${name}`
  const { context, images, maxThinking, opensInReasoning, idleSeconds, prices: _, ...sampled } = settingsOf(id, own)
  const profile = cloud ? undefined : profileOf(name)
  const inEnv = await contextOf(provider, env)
  const given = inEnv.given ? inEnv.tokens : context
  const request: ModelRequest = {
    ...{ name, baseUrl, env, sampling: sampled as Sampling },
    ...(given !== undefined && { contextTokens: given }),
    ...(profile?.sampling && { recommended: profile.sampling }),
  }
  const opened = await (await load()).open(request)
  const contextTokens = opened.contextTokens ?? given ?? inEnv.tokens
  const sampling = samplingOf(opened, request)
  const prices = pricesOf(id, own)
  const takesImages = images ?? opened.images
  const at = whereRuns(opened.baseUrl)
  // An old server does not report that it forwards the conversation; the model's name shows it.
  const where = opened.where ?? (!cloud && isCloud(id) ? OLLAMA_CLOUD : undefined)
  const limit = maxThinking ?? (cloud ? 0 : thinkingLimit(contextTokens))
  const looksFor = familiesOf(profile?.families)
  return {
    model: {
      id,
      model: opened.model,
      where: where ?? at,
      contextTokens,
      advise: async (fault) => (await import('./advise.ts')).advise(fault, { provider, name, baseUrl: opened.baseUrl, env }),
      ...((flags.opensInReasoning || opensInReasoning) && { opensInReasoning: true }),
      ...(sampling && { sampling }),
      ...(prices && { prices }),
      ...(takesImages !== undefined && { images: takesImages }),
      ...(limit > 0 && { maxThinking: limit }),
      ...(idleSeconds !== undefined && { idleSeconds }),
      ...(looksFor && { families: looksFor }),
      ...(opened.takeRepairs && { takeRepairs: opened.takeRepairs }),
      ...(opened.takeWarnings && { takeWarnings: opened.takeWarnings }),
    },
    ...(opened.status && { status: opened.status }),
    ...(opened.unrepaired && { unrepaired: opened.unrepaired }),
    passedOn: where !== undefined && where !== at,
    secrets: opened.secrets,
  }
}

/**
 * Returns the sampling for the engine. The providers' interface has no `minP`: providers that support it have already put it into their
 * requests.
 */
function samplingOf({ sampling }: OpenedModel, request: ModelRequest): AgentModel['sampling'] {
  const { minP: _, ...asked } = samplingFor(request)
  const goes = sampling ?? asked
  return Object.keys(goes).length > 0 ? goes : undefined
}

const MAX_THINKING = 8192
const THINKING_SHARE = 0.25

/**
 * Default limit of the tokens that a model may think in one reply: a small model that has lost its way thinks until its context is full.
 */
export const thinkingLimit = (contextTokens: number): number => Math.min(MAX_THINKING, Math.floor(contextTokens * THINKING_SHARE))

/**
 * Selects the notations to look for. Markup that nobody types by hand is always parsed; anything that could be prose only if the model is
 * known to write it.
 */
const familiesOf = (ids: readonly string[] | undefined): readonly Family[] | undefined =>
  ids && families.filter(({ id, begins }) => !begins || ids.includes(id))
