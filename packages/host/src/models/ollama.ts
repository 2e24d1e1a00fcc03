/** Ollama, through its own API. Asks the server about the model before sending anything else. */
import { nearest } from '@mulligan/core/executor'
import { NoModel, UsageError } from '../common/errors.ts'
import { oneLine } from '../common/sanitize.ts'
import { normalBaseUrl, whereRuns } from './base-url.ts'
import { DEFAULT_CAP, effectiveContext } from './ollama/context.ts'
import { askFor, inMemory, type Shown } from './ollama/shown.ts'
import { type OpenModel, samplingFor } from './provider.ts'
import { bearer, createGet, type Get } from './servers/get.ts'
import { ollamaUrl } from './servers/ollama.ts'
import { OLLAMA_CLOUD } from './servers/server.ts'

export const CONTEXT_TOKENS = DEFAULT_CAP

/** Milliseconds to wait for information about a model, which need not be in memory for that. */
const ANSWER_WITHIN = 30_000
const MAX_NAMED = 10

/** Returns the base URL of Ollama's own API, also from the URL of its OpenAI-compatible API. @throws UsageError */
export const nativeUrl = (given: string): string => normalBaseUrl(given).replace(/\/(?:v1|api)$/, '')

export const open: OpenModel = async (request) => {
  const { name, baseUrl, contextTokens, env } = request
  const apiKey = env['MULLIGAN_API_KEY'] || undefined
  const url = nativeUrl(baseUrl ?? ollamaUrl(env))
  const headers = bearer(apiKey)
  const shown = await known(name, url, createGet(url, { patience: ANSWER_WITHIN, headers }))
  const { capabilities, remoteHost } = shown
  if (capabilities?.has('embedding') && !capabilities.has('completion'))
    throw new UsageError(`${name} is an embedding model and can't answer`, 'Name another model: ollama list shows the installed ones.')
  const { tokens, warning } = effectiveContext(contextTokens, shown)
  const { minP, ...sampling } = samplingFor(request, shown.sampled)
  const warnings = warning === undefined ? [] : [warning]
  let begun = false
  let checked = false
  /** Checks, once, whether the model got the context that was requested. */
  async function check(): Promise<void> {
    if (checked || remoteHost !== undefined) return
    checked = true
    const listed = await inMemory(name, createGet(url, { headers })).catch(() => undefined)
    const { contextLength = tokens } = listed ?? {}
    if (contextLength < tokens) warnings.push(lessText(name, contextLength, tokens))
  }
  const { ollamaModel } = await import('./ollama/model.ts')
  const model = ollamaModel({
    url,
    headers,
    model: name,
    numCtx: tokens,
    ...(minP !== undefined && { minP }),
    ...(shown.thinking && { thinking: shown.thinking }),
    onWarning: (message) => warnings.push(message),
    onBegun: () => {
      begun = true
    },
    onEnded: check,
  })
  /** Ollama may list a model that is still being loaded. */
  const status = async (signal: AbortSignal): Promise<string | undefined> => {
    const listed = await inMemory(name, createGet(url, { headers, signal })).catch(() => false)
    if (listed === false) return undefined
    return !listed ? 'loading the model' : begun ? 'reading the prompt' : 'loading the model or reading the prompt'
  }
  return {
    model,
    baseUrl: url,
    ...(remoteHost !== undefined && { where: hostOf(remoteHost) }),
    contextTokens: tokens,
    sampling,
    ...(capabilities && { images: capabilities.has('vision') }),
    takeWarnings: () => warnings.splice(0),
    ...(remoteHost === undefined && { status }),
    secrets: apiKey ? [apiKey] : [],
  }
}

/** Returns the host that a server reported, with or without a scheme; anything that is not a host is not shown as one. */
function hostOf(given: string): string {
  const url = [given, `https://${given}`].find((one) => /^https?:/.test(one) && URL.canParse(one))
  return url === undefined ? OLLAMA_CLOUD : whereRuns(url)
}

const lessText = (name: string, got: number, asked: number): string =>
  `Ollama runs ${name} with a context of ${got.toLocaleString('en')} tokens, not ${asked.toLocaleString('en')}: it may silently cut anything longer. To stay within it: MULLIGAN_CONTEXT=${got}.`

/** Returns what the server knows about the model. @throws UsageError if the server does not answer or does not have the model */
async function known(name: string, url: string, get: Get): Promise<Shown> {
  const asked = await askFor(name, get)
  if (asked.kind === 'shown') return asked.shown
  if (asked.kind === 'silent')
    throw new NoModel(
      `no Ollama answers at ${url} (${asked.why})`,
      'Is Ollama running? To start it: ollama serve\nAt another address: OLLAMA_HOST=HOST:PORT, or --base-url',
    )
  const others = asked.others.map((other) => oneLine(other, 100))
  const [near] = nearest(name, others, 1)
  const hint = near
    ? `Or did you mean --model ollama/${near}?`
    : others.length > 0
      ? `There are: ${others.slice(0, MAX_NAMED).join(', ')}`
      : ''
  throw new UsageError(`Ollama has no model ${name}`, [`To get it: ollama pull ${name}`, hint].filter((line) => line !== '').join('\n'))
}
