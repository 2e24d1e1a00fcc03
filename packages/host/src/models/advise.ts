/**
 * Tells the user what to do about a permanently failed request: which key to check, how to start the server, which model may have been
 * meant.
 */
import type { FailedRequest } from '@mulligan/agent'
import { nearest } from '@mulligan/core/executor'
import type { Env } from '../common/env.ts'
import { oneLine } from '../common/sanitize.ts'
import type { Cloud } from './clouds.ts'
import { providerEntry } from './registry.ts'
import { bearer, createGet, modelNames } from './servers/get.ts'
import { withoutV1 } from './servers/openai.ts'

export interface Asked {
  readonly provider: string
  readonly name: string
  /** Base URL of the request, with its `/v1`. */
  readonly baseUrl: string
  readonly env: Env
}

const SEE = 'mulligan models shows which servers answer.'

/** Returns undefined if there is no advice. Never throws. */
export async function advise({ status, code }: FailedRequest, asked: Asked): Promise<string | undefined> {
  const entry = providerEntry(asked.provider)
  if (status === 401 || status === 403) return keyAdvice(asked, entry.cloud)
  if (status === 404) return modelAdvice(asked)
  if (code === undefined) return undefined
  const server = await entry.server?.()
  return server ? `To start ${server.title}: ${server.start}. ${SEE}` : SEE
}

function keyAdvice({ env }: Asked, cloud: Cloud | undefined): string {
  if (cloud) {
    const held = cloud.keys.find((key) => env[key]?.trim()) ?? cloud.keys[0]
    return `The key is the one in ${held}: is it valid, and does it have access to this model? Get a new key: ${cloud.keysAt}`
  }
  return env['MULLIGAN_API_KEY']
    ? 'The key is the one in MULLIGAN_API_KEY: does it belong to this server?'
    : 'This server requires a key: export MULLIGAN_API_KEY=…'
}

const MAX_NAMED = 8

async function modelAdvice(asked: Asked): Promise<string> {
  const names = (await namesOf(asked).catch(() => [])).map((name) => oneLine(name, 100))
  if (names.includes(asked.name)) return `The server has ${asked.name}: is the base URL right? It is ${asked.baseUrl}.`
  if (names.length === 0) return `Is the base URL right, and does its server have ${asked.name}? It is ${asked.baseUrl}. ${SEE}`
  const [near] = nearest(asked.name, names, 1)
  const some = `Its server has ${names.slice(0, MAX_NAMED).join(', ')}${names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : ''}.`
  return near ? `Did you mean ${asked.provider}/${near}? ${some}` : some
}

/** Lists the names of the server's models. @throws NoAnswer */
async function namesOf({ provider, baseUrl, env }: Asked): Promise<readonly string[]> {
  const { cloud, server } = providerEntry(provider)
  if (server) {
    const found = await (await server()).list(createGet(withoutV1(baseUrl), { headers: bearer(env['MULLIGAN_API_KEY']) }))
    return found.map(({ name }) => name)
  }
  const key = cloud ? cloud.keys.map((variable) => env[variable]?.trim()).find(Boolean) : env['MULLIGAN_API_KEY']
  return modelNames(createGet(baseUrl, { headers: headersFor(provider, key) }))
}

function headersFor(provider: string, key: string | undefined): Readonly<Record<string, string>> {
  if (key === undefined) return {}
  if (provider === 'anthropic') return { 'x-api-key': key, 'anthropic-version': '2023-06-01' }
  return provider === 'google' ? { 'x-goog-api-key': key } : bearer(key)
}
