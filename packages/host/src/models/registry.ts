/** All providers. A new one takes one file and one line here; a server to discover also has a file in `servers/`. */
import { CLOUDS, type Cloud } from './clouds.ts'
import type { Provider } from './provider.ts'
import { isOllamaCloud, type LocalServer } from './servers/server.ts'

export interface ProviderEntry {
  readonly load: () => Promise<Provider>
  /** Set for a provider that is looked for on this machine. */
  readonly server?: () => Promise<LocalServer>
  readonly cloud?: Cloud
}

/** Entry for a server with OpenAI's API that has a default address. */
function openAiServer(name: 'lmstudio' | 'llamacpp' | 'vllm'): ProviderEntry {
  const server = async () => (await import('./servers/openai.ts'))[name]
  return {
    server,
    load: async () => {
      const [{ CONTEXT_TOKENS, openAt }, at] = await Promise.all([import('./openai-compatible.ts'), server()])
      return { CONTEXT_TOKENS, open: openAt(at) }
    },
  }
}

const inCloud = (name: keyof typeof CLOUDS): ProviderEntry => ({
  load: async () => (await import('./cloud.ts'))[name],
  cloud: CLOUDS[name],
})

/** In order of preference. */
export const PROVIDERS: Readonly<Record<string, ProviderEntry>> = {
  ollama: { load: () => import('./ollama.ts'), server: async () => (await import('./servers/ollama.ts')).server },
  lmstudio: openAiServer('lmstudio'),
  llamacpp: openAiServer('llamacpp'),
  vllm: openAiServer('vllm'),
  'openai-compatible': { load: () => import('./openai-compatible.ts') },
  anthropic: inCloud('anthropic'),
  openai: inCloud('openai'),
  google: inCloud('google'),
}

export const PROVIDER_NAMES = Object.keys(PROVIDERS)

export const isProvider = (name: string): boolean => Object.hasOwn(PROVIDERS, name)

/** Returns a provider's entry. @throws TypeError if there is no such provider */
export function providerEntry(name: string): ProviderEntry {
  if (!isProvider(name)) throw new TypeError(`there is no provider ${name}`)
  return PROVIDERS[name] as ProviderEntry
}

/** Whether the model `PROVIDER/NAME` runs elsewhere, whatever the address of its server. */
export function isCloud(id: string): boolean {
  const slash = id.indexOf('/')
  const provider = slash === -1 ? id : id.slice(0, slash)
  if (provider === 'ollama') return isOllamaCloud(id.slice(slash + 1))
  return isProvider(provider) && PROVIDERS[provider]?.cloud !== undefined
}
