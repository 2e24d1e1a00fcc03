/** vLLM. Every model it serves is in memory. */
import { openAiModels, serverAddress } from './openai.ts'
import type { LocalServer } from './server.ts'

export const server: LocalServer = {
  provider: 'vllm',
  title: 'vLLM',
  variable: 'MULLIGAN_VLLM_URL',
  start: 'vllm serve MODEL --enable-auto-tool-choice --tool-call-parser PARSER',
  address: (env) => serverAddress(env['MULLIGAN_VLLM_URL'], 8000, 'MULLIGAN_VLLM_URL'),
  list: async (get) => (await openAiModels(get, 'vllm')).map((model) => ({ loaded: true, ...model })),
}
