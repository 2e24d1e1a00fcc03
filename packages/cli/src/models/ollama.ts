/** Ollama, through the OpenAI-compatible part of its API. */
import { CONTEXT_TOKENS, open as openCompatible } from './openai-compatible.ts'
import type { Env, OpenModel } from './provider.ts'

export { CONTEXT_TOKENS }

const PORT = 11434

/** `OLLAMA_HOST` as Ollama reads it: a host, a host with a port, or a URL. A server's "listen everywhere" is this machine. */
export function ollamaUrl(env: Env): string {
  const given = env['OLLAMA_HOST']?.trim() || 'localhost'
  const [, scheme, rest = ''] = /^(?:(https?):\/\/)?(.*)$/.exec(given.startsWith(':') ? `localhost${given}` : given) ?? []
  const [host = '', ...path] = rest.replace(/\/+$/, '').split('/')
  const name = host.replace(/^0\.0\.0\.0/, '127.0.0.1')
  const port = /:\d+$/.test(name) || scheme ? '' : `:${PORT}`
  return `${scheme ?? 'http'}://${name}${port}${path.length > 0 ? `/${path.join('/')}` : ''}`
}

export const open: OpenModel = ({ name, baseUrl, env }) => openCompatible({ name, baseUrl: baseUrl ?? ollamaUrl(env), env })
