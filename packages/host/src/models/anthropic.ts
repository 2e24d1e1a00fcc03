import { normalBaseUrl } from './base-url.ts'
import { fetchHere } from './fetch.ts'
import { requiredKey } from './key.ts'
import type { OpenModel } from './provider.ts'

const URL = 'https://api.anthropic.com/v1'

export const CONTEXT_TOKENS = 200_000

export const open: OpenModel = async (request) => {
  const { name, baseUrl, env } = request
  const apiKey = requiredKey(request, 'ANTHROPIC_API_KEY', 'anthropic')
  const baseURL = normalBaseUrl(baseUrl ?? (env['ANTHROPIC_BASE_URL'] || URL))
  const { createAnthropic } = await import('@ai-sdk/anthropic')
  return {
    model: createAnthropic({ baseURL, apiKey, fetch: fetchHere })(name),
    baseUrl: baseURL,
    secrets: [apiKey],
  }
}
