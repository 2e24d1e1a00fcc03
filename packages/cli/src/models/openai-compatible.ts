/** Any server that speaks OpenAI's chat completions: llama.cpp, vLLM, LM Studio, a gateway. */
import { UsageError } from '../exit.ts'
import { normalBaseUrl } from './base-url.ts'
import { fetchHere } from './fetch.ts'
import type { OpenModel } from './provider.ts'

export const CONTEXT_TOKENS = 32_768

export const open: OpenModel = async ({ name, baseUrl, env }) => {
  if (baseUrl === undefined)
    throw new UsageError(
      'openai-compatible needs the address of its server',
      `Add --base-url http://localhost:8080/v1, or set MULLIGAN_BASE_URL.`,
    )
  const baseURL = normalBaseUrl(baseUrl)
  const apiKey = env['MULLIGAN_API_KEY'] || undefined
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
  const provider = createOpenAICompatible({
    name: 'openai-compatible',
    baseURL,
    includeUsage: true,
    fetch: fetchHere,
    ...(apiKey && { apiKey }),
  })
  return { model: provider(name), baseUrl: baseURL, contextTokens: CONTEXT_TOKENS, secrets: apiKey ? [apiKey] : [] }
}
