/** Servers with OpenAI's API that are looked for: LM Studio, llama.cpp and vLLM. All have `GET /v1/models`. */
import { UsageError } from '../../common/errors.ts'
import { normalBaseUrl } from '../base-url.ts'
import { countIn, type Fields, fieldsOf, type Get, listIn, NoAnswer, textIn } from './get.ts'
import type { FoundModel, LocalServer } from './server.ts'

type Facts = Omit<LocalServer, 'address'> & { readonly port: number }

const openAiServer = ({ port, ...facts }: Facts): LocalServer => ({
  ...facts,
  address: (env) => {
    try {
      return withoutV1(normalBaseUrl(env[facts.variable]?.trim() || `http://127.0.0.1:${port}`))
    } catch (error) {
      if (error instanceof UsageError) throw new UsageError(`${facts.variable}: ${error.message}`, error.hint)
      throw error
    }
  },
})

export const withoutV1 = (baseUrl: string): string => baseUrl.replace(/\/v1$/, '')

/** Lists the models. @throws NoAnswer */
export async function openAiModels(get: Get, provider: string): Promise<readonly FoundModel[]> {
  return listIn(await get('/v1/models'), 'data').flatMap((model) => {
    const name = textIn(model, 'id')
    return name === undefined ? [] : [{ provider, name, ...contextIn(model), ...stateIn(model) }]
  })
}

/** vLLM and SGLang report `max_model_len`; newer builds of llama.cpp report `meta.n_ctx`. */
function contextIn(model: Fields): Pick<FoundModel, 'contextTokens' | 'bytes'> {
  const meta = fieldsOf(model['meta'])
  const contextTokens = countIn(model, 'max_model_len') ?? countIn(meta, 'n_ctx')
  const bytes = countIn(meta, 'size')
  return { ...(contextTokens && { contextTokens }), ...(bytes && { bytes }) }
}

/** A server of several models reports which are in memory; a server of one model does not need to. */
function stateIn(model: Fields): Pick<FoundModel, 'loaded'> {
  const value = textIn(fieldsOf(model['status']), 'value')
  return value === undefined ? {} : { loaded: value === 'loaded' }
}

/** vLLM: every model it serves is in memory. */
export const vllm = openAiServer({
  provider: 'vllm',
  title: 'vLLM',
  variable: 'MULLIGAN_VLLM_URL',
  port: 8000,
  start: 'vllm serve MODEL --enable-auto-tool-choice --tool-call-parser PARSER',
  list: async (get) => (await openAiModels(get, 'vllm')).map((model) => ({ loaded: true, ...model })),
})

/** llama.cpp: `/props` reports the effective context size. */
export const llamacpp = openAiServer({
  provider: 'llamacpp',
  title: 'llama.cpp',
  variable: 'MULLIGAN_LLAMACPP_URL',
  port: 8080,
  start: 'llama-server -m MODEL.gguf --jinja',
  list: async (get) => {
    const models = await openAiModels(get, 'llamacpp')
    if (models.length !== 1) return models
    const props = fieldsOf(await get('/props').catch(() => undefined))
    const contextTokens = countIn(fieldsOf(props['default_generation_settings']), 'n_ctx')
    const tools = fieldsOf(props['chat_template_caps'])['supports_tools']
    return models.map((model) => ({
      loaded: true,
      ...model,
      ...(contextTokens && { contextTokens }),
      ...(typeof tools === 'boolean' && { tools }),
    }))
  },
})

/** LM Studio: its own API reports more than OpenAI's: the type of each model, its context size, and whether it is loaded. */
export const lmstudio = openAiServer({
  provider: 'lmstudio',
  title: 'LM Studio',
  variable: 'MULLIGAN_LMSTUDIO_URL',
  port: 1234,
  start: 'lms server start, or Start server on its Developer page',
  list: async (get) => {
    const models = await ownList(get)
    return models ? models.flatMap(ownModel) : openAiModels(get, 'lmstudio')
  },
})

/** Returns undefined if the server does not have its own API, because its version is too old or no longer has it. */
async function ownList(get: Get): Promise<readonly Fields[] | undefined> {
  try {
    return listIn(await get('/api/v0/models'), 'data')
  } catch (error) {
    if (error instanceof NoAnswer && error.kind === 'wrong' && error.status !== 401) return undefined
    throw error
  }
}

const CHAT = new Set(['llm', 'vlm'])

function ownModel(model: Fields): readonly FoundModel[] {
  const name = textIn(model, 'id')
  if (name === undefined) return []
  const type = textIn(model, 'type')
  const state = textIn(model, 'state')
  const contextTokens = countIn(model, 'loaded_context_length') ?? countIn(model, 'max_context_length')
  const { capabilities } = model
  return [
    {
      provider: 'lmstudio',
      name,
      ...(contextTokens && { contextTokens }),
      ...(state && { loaded: state === 'loaded' }),
      ...(type && { chat: CHAT.has(type) }),
      ...(Array.isArray(capabilities) && { tools: capabilities.includes('tool_use') }),
    },
  ]
}
