/** Any server with OpenAI's chat completions API: a gateway, or llama.cpp, vLLM and LM Studio at a custom address. */
import { UsageError } from '../common/errors.ts'
import { isNear, normalBaseUrl } from './base-url.ts'
import { fetchAtHome, fetchHere, repairingFetch } from './fetch.ts'
import { type ModelRequest, type OpenedModel, type OpenModel, samplingFor } from './provider.ts'
import { bearer, countIn, createGet, fieldsOf, type Get } from './servers/get.ts'
import { openAiModels, withoutV1 } from './servers/openai.ts'
import type { LocalServer } from './servers/server.ts'

export const CONTEXT_TOKENS = 32_768
/** Milliseconds to wait for a server to report its context size. */
const LOOKUP_PATIENCE = 1000

export const open: OpenModel = async (request) => {
  const { name, baseUrl } = request
  if (baseUrl === undefined)
    throw new UsageError(
      'openai-compatible needs the address of its server',
      `Add --base-url http://localhost:8080/v1, or set MULLIGAN_BASE_URL.`,
    )
  const address = withoutV1(normalBaseUrl(baseUrl))
  // Hosted services reject options that they don't know, and need no guess at the context size.
  if (!isNear(address)) return openWith(request, { takesMore: false })
  return openWith(request, { takesMore: true }, async (key) => {
    const get = createGet(address, { patience: LOOKUP_PATIENCE, headers: bearer(key) })
    const [listed, loaded] = await Promise.all([listedContext(get, name), loadedFacts(get)])
    return { contextTokens: loaded.contextTokens ?? listed, images: loaded.images }
  })
}

/**
 * Opens a model on a server with a default address. Such servers accept sampling options beyond OpenAI's API, and report their context
 * size.
 */
export const openAt =
  (server: LocalServer): OpenModel =>
  (request) => {
    const { name, baseUrl, env } = request
    const address = baseUrl === undefined ? server.address(env) : withoutV1(normalBaseUrl(baseUrl))
    return openWith({ ...request, baseUrl: address }, { takesMore: true }, async (key) => {
      const get = createGet(address, { patience: LOOKUP_PATIENCE, headers: bearer(key) })
      const models = await server.list(get)
      return { contextTokens: models.find((model) => model.name === name)?.contextTokens }
    })
  }

const listedContext = (get: Get, name: string): Promise<number | undefined> =>
  openAiModels(get, '').then(
    (models) => models.find((model) => model.name === name)?.contextTokens,
    () => undefined,
  )

interface Facts {
  /** Context size in tokens. */
  readonly contextTokens?: number | undefined
  readonly images?: boolean | undefined
}

/** llama.cpp reports the facts about its model there, whatever name it gives the model. */
const loadedFacts = (get: Get): Promise<Facts> =>
  get('/props').then(
    (props) => {
      const { vision } = fieldsOf(fieldsOf(props)['modalities'])
      return {
        contextTokens: countIn(fieldsOf(fieldsOf(props)['default_generation_settings']), 'n_ctx'),
        images: typeof vision === 'boolean' ? vision : undefined,
      }
    },
    () => ({}),
  )

interface Dialect {
  /** Whether it accepts `top_k` and `min_p`. */
  readonly takesMore: boolean
}

/** Opens the model. @param lookUp returns what the server reports, given the key; if it throws, that is unknown */
async function openWith(
  request: ModelRequest,
  { takesMore }: Dialect,
  lookUp?: (key: string | undefined) => Promise<Facts>,
): Promise<OpenedModel> {
  const { name, baseUrl, contextTokens: given, env } = request
  const baseURL = normalBaseUrl(baseUrl as string)
  const apiKey = env['MULLIGAN_API_KEY'] || undefined
  const [{ createOpenAICompatible }, facts = {}] = await Promise.all([
    import('@ai-sdk/openai-compatible'),
    given === undefined ? lookUp?.(apiKey).catch(() => undefined) : undefined,
  ])
  const contextTokens = given ?? facts.contextTokens
  const asSent = takesMore ? fetchAtHome : fetchHere
  const repairing = repairingFetch(asSent)
  const { topK, minP, ...standard } = samplingFor(request)
  const more = takesMore ? { ...(topK !== undefined && { top_k: topK }), ...(minP !== undefined && { min_p: minP }) } : {}
  const modelOver = (fetch: typeof asSent) =>
    createOpenAICompatible({
      name: 'openai-compatible',
      baseURL,
      includeUsage: true,
      fetch,
      transformRequestBody: (body) => ({ ...body, ...more }),
      ...(apiKey && { apiKey }),
    })(name)
  return {
    model: modelOver(repairing.fetch),
    unrepaired: () => modelOver(asSent),
    baseUrl: baseURL,
    takeRepairs: repairing.takeRepairs,
    sampling: standard,
    ...(contextTokens && { contextTokens }),
    ...(facts.images !== undefined && { images: facts.images }),
    secrets: apiKey ? [apiKey] : [],
  }
}
