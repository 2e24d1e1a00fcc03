/** Google's Gemini API. */
import { normalBaseUrl } from './base-url.ts'
import { fetchHere } from './fetch.ts'
import { requiredKey } from './key.ts'
import type { OpenModel } from './provider.ts'

const URL = 'https://generativelanguage.googleapis.com/v1beta'

export const CONTEXT_TOKENS = 1_048_576

export const open: OpenModel = async (request) => {
  const { name, baseUrl, env } = request
  const apiKey = requiredKey(request, 'GOOGLE_GENERATIVE_AI_API_KEY', 'google', env['GEMINI_API_KEY'])
  const baseURL = baseUrl === undefined ? URL : normalBaseUrl(baseUrl).replace(/\/v1$/, '/v1beta')
  const { createGoogleGenerativeAI } = await import('@ai-sdk/google')
  return {
    model: createGoogleGenerativeAI({ baseURL, apiKey, fetch: fetchHere })(name),
    baseUrl: baseURL,
    secrets: [apiKey],
  }
}
