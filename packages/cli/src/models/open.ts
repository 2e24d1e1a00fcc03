/** From `--model PROVIDER/NAME` to a model. A new provider is one file and one line here. */
import type { AgentModel } from '@mulligan/agent'
import { nearest } from '@mulligan/core'
import { UsageError } from '../exit.ts'
import { whereRuns } from './base-url.ts'
import type { Env, Provider } from './provider.ts'

const PROVIDERS: Readonly<Record<string, () => Promise<Provider>>> = {
  ollama: () => import('./ollama.ts'),
  'openai-compatible': () => import('./openai-compatible.ts'),
  anthropic: () => import('./anthropic.ts'),
  openai: () => import('./openai.ts'),
}
const NAMES = Object.keys(PROVIDERS)
const IN_THE_CLOUD = new Set(['anthropic', 'openai'])

/** Whether the provider of `PROVIDER/NAME` says by itself where it runs. */
export const isCloud = (id: string): boolean => IN_THE_CLOUD.has(id.split('/')[0] ?? '')

const WAYS = [
  'Name one in one of these ways (or set MULLIGAN_MODEL and MULLIGAN_BASE_URL):',
  '  --model ollama/NAME                                   a model of Ollama on this machine',
  '  --model NAME --base-url http://localhost:8080/v1      any OpenAI-compatible server',
  '  --model anthropic/NAME  or  --model openai/NAME       in the cloud, with ANTHROPIC_API_KEY or OPENAI_API_KEY',
].join('\n')

export interface ModelChoice {
  readonly provider: string
  readonly name: string
}

/**
 * Which provider and model are meant. A cloud is never picked because its key happens to be set.
 * @throws UsageError
 */
export function chooseModel(model: string | undefined, baseUrl: string | undefined): ModelChoice {
  if (!model) throw new UsageError('no model is named', WAYS)
  const slash = model.indexOf('/')
  const prefix = slash === -1 ? model : model.slice(0, slash)
  const name = slash === -1 ? '' : model.slice(slash + 1)
  if (Object.hasOwn(PROVIDERS, prefix) && (name !== '' || baseUrl === undefined)) {
    if (name === '') throw new UsageError(`--model ${model} names a provider but no model`, `Write --model ${prefix}/NAME.`)
    return { provider: prefix, name }
  }
  if (baseUrl !== undefined) return { provider: 'openai-compatible', name: model }
  if (slash === -1) throw new UsageError(`--model ${model} does not say who runs it`, WAYS)
  const [near] = nearest(prefix, NAMES, 1)
  throw new UsageError(
    `there is no provider "${prefix}"`,
    near ? `Did you mean --model ${near}/${name}?` : `There are ${NAMES.join(', ')}; with --base-url the model may have any name.`,
  )
}

export interface ConfiguredModel {
  readonly model: AgentModel
  readonly secrets: readonly string[]
}

export interface ModelFlags {
  readonly model?: string
  readonly baseUrl?: string
  readonly opensInReasoning?: boolean
}

const load = (provider: string): Promise<Provider> => (PROVIDERS[provider] as (typeof PROVIDERS)[string])()

/**
 * How many tokens a model takes at once, and whether the environment says so.
 * @throws UsageError
 */
export async function contextOf(provider: string, env: Env): Promise<{ readonly tokens: number; readonly given: boolean }> {
  const given = env['MULLIGAN_CONTEXT']
  if (!given) return { tokens: (await load(provider)).CONTEXT_TOKENS, given: false }
  const tokens = Number(given)
  if (!Number.isInteger(tokens) || tokens < 1024)
    throw new UsageError(`MULLIGAN_CONTEXT=${given} must be a whole number of tokens, at least 1024`, 'export MULLIGAN_CONTEXT=32768')
  return { tokens, given: true }
}

/** @throws UsageError */
export async function openModel(flags: ModelFlags, env: Env): Promise<ConfiguredModel> {
  const local = env['MULLIGAN_BASE_URL'] || undefined
  const { provider, name } = chooseModel(flags.model ?? env['MULLIGAN_MODEL'], flags.baseUrl ?? local)
  // A cloud's key goes elsewhere only when the command line says so.
  const baseUrl = flags.baseUrl ?? (IN_THE_CLOUD.has(provider) ? undefined : local)
  const { tokens } = await contextOf(provider, env)
  const opened = await (await load(provider)).open({ name, baseUrl, env })
  const { model, secrets } = opened
  return {
    model: {
      id: `${provider}/${name}`,
      model,
      where: whereRuns(opened.baseUrl),
      contextTokens: tokens,
      ...(flags.opensInReasoning && { opensInReasoning: true }),
      ...(opened.takeRepairs && { takeRepairs: opened.takeRepairs }),
    },
    secrets,
  }
}
