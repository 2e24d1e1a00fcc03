/** Servers with OpenAI's API that have a place of their own to be at. */
import { normalBaseUrl } from './base-url.ts'
import { LOOKUP_PATIENCE, openWith } from './openai-compatible.ts'
import type { OpenModel } from './provider.ts'
import { bearer, createGet } from './servers/get.ts'
import { withoutV1 } from './servers/openai.ts'
import type { LocalServer } from './servers/server.ts'

/** They take sampling that OpenAI's API has no names for, and tell how large the context is. */
export const openAt =
  (server: LocalServer): OpenModel =>
  (request) => {
    const { name, baseUrl, env } = request
    const address = baseUrl === undefined ? server.address(env) : withoutV1(normalBaseUrl(baseUrl))
    return openWith({ ...request, baseUrl: address }, { takesMore: true }, async (key) => {
      const get = createGet(address, { patience: LOOKUP_PATIENCE, headers: bearer(key) })
      const models = await server.list(get)
      return models.find((model) => model.name === name)?.contextTokens
    })
  }
