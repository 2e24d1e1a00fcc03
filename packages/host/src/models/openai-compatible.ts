/** Any server that speaks OpenAI's chat completions: a gateway, or llama.cpp, vLLM and LM Studio at an address of their own. */
import { UsageError } from '../common/errors.ts'
import { isNear, normalBaseUrl } from './base-url.ts'
import { fetchAtHome, fetchHere, repairingFetch } from './fetch.ts'
import { type ModelRequest, type OpenedModel, type OpenModel, samplingFor } from './provider.ts'
import { countIn, fieldsOf } from './servers/fields.ts'
import { bearer, createGet, type Get } from './servers/get.ts'
import { openAiModels, withoutV1 } from './servers/openai.ts'

export const CONTEXT_TOKENS = 32_768
/** Milliseconds in which a server must say how large its context is. */
export const LOOKUP_PATIENCE = 1000

export const open: OpenModel = async (request) => {
  const { name, baseUrl } = request
  if (baseUrl === undefined)
    throw new UsageError(
      'openai-compatible needs the address of its server',
      `Add --base-url http://localhost:8080/v1, or set MULLIGAN_BASE_URL.`,
    )
  const address = withoutV1(normalBaseUrl(baseUrl))
  // Hosted services refuse a request with what they don't know, and have a context that is nobody's guess.
  if (!isNear(address)) return openWith(request, { takesMore: false })
  return openWith(request, { takesMore: true }, async (key) => {
    const get = createGet(address, { patience: LOOKUP_PATIENCE, headers: bearer(key) })
    const [listed, loaded] = await Promise.all([listedContext(get, name), loadedContext(get)])
    return loaded ?? listed
  })
}

const listedContext = (get: Get, name: string): Promise<number | undefined> =>
  openAiModels(get, '').then(
    (models) => models.find((model) => model.name === name)?.contextTokens,
    () => undefined,
  )

/** llama.cpp tells it there, whatever name its model goes by. */
const loadedContext = (get: Get): Promise<number | undefined> =>
  get('/props').then(
    (props) => countIn(fieldsOf(fieldsOf(props)['default_generation_settings']), 'n_ctx'),
    () => undefined,
  )

interface Dialect {
  /** Whether it takes `top_k` and `min_p`. */
  readonly takesMore: boolean
}

/** @param lookUp how many tokens the context has, given the key; what it throws is taken for "it does not say" */
export async function openWith(
  request: ModelRequest,
  { takesMore }: Dialect,
  lookUp?: (key: string | undefined) => Promise<number | undefined>,
): Promise<OpenedModel> {
  const { name, baseUrl, contextTokens: given, env } = request
  const baseURL = normalBaseUrl(baseUrl as string)
  const apiKey = env['MULLIGAN_API_KEY'] || undefined
  const [{ createOpenAICompatible }, contextTokens = given] = await Promise.all([
    import('@ai-sdk/openai-compatible'),
    given === undefined ? lookUp?.(apiKey).catch(() => undefined) : undefined,
  ])
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
    secrets: apiKey ? [apiKey] : [],
  }
}
