/** OpenAI, by chat completions: other base URLs speak these too. */
import { normalBaseUrl } from './base-url.ts'
import { fetchHere, repairingFetch } from './fetch.ts'
import { requiredKey } from './key.ts'
import type { OpenModel } from './provider.ts'

const URL = 'https://api.openai.com/v1'

export const CONTEXT_TOKENS = 128_000

export const open: OpenModel = async (request) => {
  const { name, baseUrl, env } = request
  const apiKey = requiredKey(request, 'OPENAI_API_KEY', 'openai')
  const baseURL = normalBaseUrl(baseUrl ?? (env['OPENAI_BASE_URL'] || URL))
  const { createOpenAI } = await import('@ai-sdk/openai')
  const { fetch, takeRepairs } = repairingFetch(fetchHere)
  return {
    model: createOpenAI({ baseURL, apiKey, fetch }).chat(name),
    takeRepairs,
    baseUrl: baseURL,
    secrets: [apiKey],
  }
}
