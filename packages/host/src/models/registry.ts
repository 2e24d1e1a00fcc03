/** Every provider. A new one is one file and one line here; a server to discover also has a file in `servers/`. */
import { CLOUDS, type Cloud } from './clouds.ts'
import type { Provider } from './provider.ts'
import { isOllamaCloud } from './servers/cloud-name.ts'
import type { LocalServer } from './servers/server.ts'

export interface ProviderEntry {
  readonly load: () => Promise<Provider>
  /** Of a provider that is looked for on this machine. */
  readonly server?: () => Promise<LocalServer>
  readonly cloud?: Cloud
}

/** In the order in which servers are preferred. */
export const PROVIDERS: Readonly<Record<string, ProviderEntry>> = {
  ollama: { load: () => import('./ollama.ts'), server: async () => (await import('./servers/ollama.ts')).server },
  lmstudio: { load: () => import('./lmstudio.ts'), server: async () => (await import('./servers/lmstudio.ts')).server },
  llamacpp: { load: () => import('./llamacpp.ts'), server: async () => (await import('./servers/llamacpp.ts')).server },
  vllm: { load: () => import('./vllm.ts'), server: async () => (await import('./servers/vllm.ts')).server },
  'openai-compatible': { load: () => import('./openai-compatible.ts') },
  anthropic: { load: () => import('./anthropic.ts'), cloud: CLOUDS.anthropic },
  openai: { load: () => import('./openai.ts'), cloud: CLOUDS.openai },
  google: { load: () => import('./google.ts'), cloud: CLOUDS.google },
}

export const PROVIDER_NAMES = Object.keys(PROVIDERS)

export const isProvider = (name: string): boolean => Object.hasOwn(PROVIDERS, name)

/** @throws TypeError when there is none of that name */
export function providerEntry(name: string): ProviderEntry {
  if (!isProvider(name)) throw new TypeError(`there is no provider ${name}`)
  return PROVIDERS[name] as ProviderEntry
}

/** Whether the model of `PROVIDER/NAME` leaves this machine whatever the address of its server is. */
export function isCloud(id: string): boolean {
  const slash = id.indexOf('/')
  const provider = slash === -1 ? id : id.slice(0, slash)
  if (provider === 'ollama') return isOllamaCloud(id.slice(slash + 1))
  return isProvider(provider) && PROVIDERS[provider]?.cloud !== undefined
}
