/** llama.cpp's `llama-server`. Its `/props` tell the context that is in force. */
import { countIn, fieldsOf } from './fields.ts'
import { openAiModels, serverAddress } from './openai.ts'
import type { LocalServer } from './server.ts'

export const server: LocalServer = {
  provider: 'llamacpp',
  title: 'llama.cpp',
  variable: 'MULLIGAN_LLAMACPP_URL',
  start: 'llama-server -m MODEL.gguf --jinja',
  address: (env) => serverAddress(env['MULLIGAN_LLAMACPP_URL'], 8080, 'MULLIGAN_LLAMACPP_URL'),
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
}
