/** Probes the servers in parallel, with short questions and without a key. */
import type { Env } from '../common/env.ts'
import { PROVIDERS } from './registry.ts'
import { createGet, type GetOptions, NoAnswer } from './servers/get.ts'
import { type FoundModel, isChat, type LocalServer } from './servers/server.ts'

export interface ServerReport {
  readonly server: LocalServer
  readonly address: string
  /** `absent`: nobody listens there. `wrong`: somebody does, who does not answer as such a server would. */
  readonly state: 'running' | 'absent' | 'wrong'
  /** Why it is not running, for the person. */
  readonly why?: string
  /** Those to talk with. */
  readonly models: readonly FoundModel[]
  /** How many others it has. */
  readonly others: number
}

/** Servers that are looked for, in the order in which they are preferred. */
export const localServers = (): Promise<readonly LocalServer[]> =>
  Promise.all(Object.values(PROVIDERS).flatMap(({ server }) => (server ? [server()] : [])))

/** @throws UsageError for an address that is none */
export async function probeServers(env: Env, options: Omit<GetOptions, 'headers'> = {}): Promise<readonly ServerReport[]> {
  const servers = await localServers()
  const addresses = servers.map((server) => server.address(env))
  return Promise.all(servers.map((server, at) => probeServer(server, addresses[at] as string, options)))
}

export async function probeServer(server: LocalServer, address: string, options: GetOptions = {}): Promise<ServerReport> {
  try {
    const all = await server.list(createGet(address, options))
    const models = all.filter(isChat)
    return { server, address, state: 'running', models, others: all.length - models.length }
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error
    return { server, address, state: error.kind, why: error.message, models: [], others: 0 }
  }
}
