/** LM Studio. Its own API tells more than OpenAI's: the kind of each model, its context, and whether it is loaded. */
import { countIn, type Fields, listIn, textIn } from './fields.ts'
import { type Get, NoAnswer } from './get.ts'
import { openAiModels, serverAddress } from './openai.ts'
import type { FoundModel, LocalServer } from './server.ts'

const provider = 'lmstudio'

export const server: LocalServer = {
  provider,
  title: 'LM Studio',
  variable: 'MULLIGAN_LMSTUDIO_URL',
  start: 'lms server start, or Start server on its Developer page',
  address: (env) => serverAddress(env['MULLIGAN_LMSTUDIO_URL'], 1234, 'MULLIGAN_LMSTUDIO_URL'),
  list: async (get) => {
    const models = await ownList(get)
    return models ? models.flatMap(found) : openAiModels(get, provider)
  },
}

/** Undefined if its own API does not exist: an old version, or one that gave it up. */
async function ownList(get: Get): Promise<readonly Fields[] | undefined> {
  try {
    return listIn(await get('/api/v0/models'), 'data')
  } catch (error) {
    if (error instanceof NoAnswer && error.kind === 'wrong' && error.status !== 401) return undefined
    throw error
  }
}

const CHAT = new Set(['llm', 'vlm'])

function found(model: Fields): readonly FoundModel[] {
  const name = textIn(model, 'id')
  if (name === undefined) return []
  const type = textIn(model, 'type')
  const state = textIn(model, 'state')
  const contextTokens = countIn(model, 'loaded_context_length') ?? countIn(model, 'max_context_length')
  const { capabilities } = model
  return [
    {
      provider,
      name,
      ...(contextTokens && { contextTokens }),
      ...(state && { loaded: state === 'loaded' }),
      ...(type && { chat: CHAT.has(type) }),
      ...(Array.isArray(capabilities) && { tools: capabilities.includes('tool_use') }),
    },
  ]
}
