/** Any server that speaks OpenAI's chat completions: llama.cpp, vLLM, LM Studio, a gateway. */
import { mendingFetch, type Repair } from '@mulligan/repair'
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
  let repairs: Repair[] = []
  // What was cut off by its length is the engine's to refuse: it knows what each tool does.
  const mending = mendingFetch({ fetch: fetchHere, cutOff: 'keep', onRepair: (repair) => repairs.push(repair) })
  function takeRepairs(): readonly Repair[] {
    const taken = repairs
    repairs = []
    return taken
  }
  const provider = createOpenAICompatible({
    name: 'openai-compatible',
    baseURL,
    includeUsage: true,
    fetch: mending,
    ...(apiKey && { apiKey }),
  })
  return { model: provider(name), baseUrl: baseURL, takeRepairs, secrets: apiKey ? [apiKey] : [] }
}
