/** Ollama. `/api/tags` lists the models, `/api/ps` those in memory, and `/api/show` what each can do. */
import type { Env } from '../../common/env.ts'
import { countIn, type Fields, fieldsOf, type Get, listIn, textIn } from './get.ts'
import { type FoundModel, isOllamaCloud, type LocalServer, OLLAMA_CLOUD } from './server.ts'

const PORT = 11434

/** Reads `OLLAMA_HOST` as Ollama does: a host, a host with a port, or a URL. "Listen on every interface" means this machine. */
export function ollamaUrl(env: Env): string {
  const given = env['OLLAMA_HOST']?.trim() || 'localhost'
  const [, scheme, rest = ''] = /^(?:(https?):\/\/)?(.*)$/.exec(given.startsWith(':') ? `localhost${given}` : given) ?? []
  const [host = '', ...path] = rest.replace(/\/+$/, '').split('/')
  const name = host.replace(/^0\.0\.0\.0/, '127.0.0.1')
  const port = /:\d+$/.test(name) || scheme ? '' : `:${PORT}`
  return `${scheme ?? 'http'}://${name}${port}${path.length > 0 ? `/${path.join('/')}` : ''}`
}

const provider = 'ollama'
/** If there are more models than this, their capabilities are not requested. */
const MAX_SHOWN = 40

export const server: LocalServer = {
  provider,
  title: 'Ollama',
  variable: 'OLLAMA_HOST',
  start: 'ollama serve',
  address: ollamaUrl,
  list: async (get) => {
    const tags = listIn(await get('/api/tags'), 'models')
    const running = await get('/api/ps').then(
      (answer) => new Map(listIn(answer, 'models').map((model) => [textIn(model, 'name'), countIn(model, 'context_length')])),
      () => undefined,
    )
    const models = await Promise.all(
      tags.map(async (tag, at) => {
        const name = textIn(tag, 'name') ?? textIn(tag, 'model')
        return name === undefined ? undefined : found(name, tag, at < MAX_SHOWN ? await show(get, name) : {}, running)
      }),
    )
    return models.filter((model) => model !== undefined)
  },
}

const show = (get: Get, model: string): Promise<Fields> => get('/api/show', { model }).then(fieldsOf, () => ({}))

function found(
  name: string,
  tag: Fields,
  shown: Fields,
  running: ReadonlyMap<string | undefined, number | undefined> | undefined,
): FoundModel {
  const { capabilities = tag['capabilities'] } = shown
  const can = Array.isArray(capabilities) ? capabilities : undefined
  const bytes = countIn(tag, 'size')
  const modifiedAt = Date.parse(textIn(tag, 'modified_at') ?? '')
  const contextTokens = running?.get(name) ?? contextIn(fieldsOf(shown['model_info']))
  const passedTo = passedToOf(name, tag, shown)
  return {
    provider,
    name,
    ...(contextTokens && { contextTokens }),
    ...(bytes && { bytes }),
    ...(Number.isFinite(modifiedAt) && { modifiedAt }),
    ...(running && { loaded: running.has(name) }),
    ...(can && { tools: can.includes('tools'), chat: can.includes('completion') }),
    ...(passedTo && { passedTo }),
  }
}

/** The key begins with the architecture: `glm4moe.context_length`. */
function contextIn(info: Fields): number | undefined {
  const key = Object.keys(info).find((one) => one.endsWith('.context_length'))
  return key === undefined ? undefined : countIn(info, key)
}

function passedToOf(name: string, ...answers: readonly Fields[]): string | undefined {
  const host = answers.map((fields) => textIn(fields, 'remote_host')).find((one) => one !== undefined)
  if (host === undefined) return isOllamaCloud(name) ? OLLAMA_CLOUD : undefined
  return URL.canParse(host) ? new URL(host).hostname : OLLAMA_CLOUD
}
