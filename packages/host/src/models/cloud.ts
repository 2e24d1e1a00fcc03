/** Cloud models, through their own APIs. Each client is loaded when it is first used. */
import type { LanguageModelV4 } from '@ai-sdk/provider'
import { NoModel } from '../common/errors.ts'
import { normalBaseUrl } from './base-url.ts'
import { CLOUDS } from './clouds.ts'
import { fetchHere, repairingFetch } from './fetch.ts'
import type { ModelRequest, OpenedModel, Provider } from './provider.ts'

interface Server {
  readonly baseURL: string
  readonly apiKey: string
}

interface Api {
  readonly contextTokens: number
  /** Address, with the API version in its path. */
  readonly url: string
  /** Environment variable that overrides the address. */
  readonly variable?: string
  readonly connect: (server: Server, name: string) => Promise<{ readonly model: LanguageModelV4 } & Pick<OpenedModel, 'takeRepairs'>>
}

const provider = (id: keyof typeof CLOUDS, { contextTokens, url, variable = '', connect }: Api): Provider => ({
  CONTEXT_TOKENS: contextTokens,
  open: async (request) => {
    const { name, baseUrl, env } = request
    const apiKey = requiredKey(request, id)
    const baseURL = normalBaseUrl(baseUrl ?? (env[variable] || url)).replace(/\/v1$/, new URL(url).pathname)
    return { ...(await connect({ baseURL, apiKey }, name)), baseUrl: baseURL, secrets: [apiKey] }
  },
})

/** Returns the API key. @throws UsageError that names the variable and where to get a key */
function requiredKey({ env, name, baseUrl }: ModelRequest, provider: keyof typeof CLOUDS): string {
  const { keys, keysAt } = CLOUDS[provider]
  const key = keys.map((variable) => env[variable]?.trim()).find(Boolean)
  if (key) return key
  // Models on other servers have names like openai/gpt-oss-20b too.
  const other = baseUrl === undefined ? '' : `  or, for another server: --model openai-compatible/${provider}/${name}`
  throw new NoModel(`${provider} needs a key, and ${keys[0]} is not set`, `export ${keys[0]}=…  from ${keysAt}${other}`)
}

export const anthropic = provider('anthropic', {
  contextTokens: 200_000,
  url: 'https://api.anthropic.com/v1',
  variable: 'ANTHROPIC_BASE_URL',
  connect: async (server, name) => {
    const { createAnthropic } = await import('@ai-sdk/anthropic')
    return { model: createAnthropic({ ...server, fetch: fetchHere })(name) }
  },
})

/** Uses chat completions, because servers at other base URLs support them too. */
export const openai = provider('openai', {
  contextTokens: 128_000,
  url: 'https://api.openai.com/v1',
  variable: 'OPENAI_BASE_URL',
  connect: async (server, name) => {
    const { createOpenAI } = await import('@ai-sdk/openai')
    const { fetch, takeRepairs } = repairingFetch(fetchHere)
    return { model: createOpenAI({ ...server, fetch }).chat(name), takeRepairs }
  },
})

export const google = provider('google', {
  contextTokens: 1_048_576,
  url: 'https://generativelanguage.googleapis.com/v1beta',
  connect: async (server, name) => {
    const { createGoogleGenerativeAI } = await import('@ai-sdk/google')
    return { model: createGoogleGenerativeAI({ ...server, fetch: fetchHere })(name) }
  },
})
