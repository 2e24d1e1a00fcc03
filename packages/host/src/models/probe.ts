/** Probes the servers in parallel, with short requests and without a key, and sorts their models by preference. */
import type { Env } from '../common/env.ts'
import { HERE, whereRuns } from './base-url.ts'
import { profileOf } from './profiles.ts'
import { PROVIDERS } from './registry.ts'
import { createGet, type GetOptions, NoAnswer } from './servers/get.ts'
import { type FoundModel, isChat, type LocalServer } from './servers/server.ts'

export interface ServerReport {
  readonly server: LocalServer
  readonly address: string
  /** `absent`: nothing listens there. `wrong`: something does, but it does not answer as such a server would. */
  readonly state: 'running' | 'absent' | 'wrong'
  /** Why the server is not running, for the user. */
  readonly why?: string
  /** The chat models. */
  readonly models: readonly FoundModel[]
  /** Number of other models. */
  readonly others: number
}

/** The servers to look for, in order of preference. */
export const localServers = (): Promise<readonly LocalServer[]> =>
  Promise.all(Object.values(PROVIDERS).flatMap(({ server }) => (server ? [server()] : [])))

/** Probes all servers. @throws UsageError for an invalid address */
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

export interface Candidate extends FoundModel {
  readonly address: string
  /** "this machine", or the host that receives the conversation. */
  readonly where: string
}

/** Returns the models of the servers that answered, in order of preference. */
export const candidatesOf = (reports: readonly ServerReport[]): readonly Candidate[] =>
  reports
    .flatMap(({ address, models }) => models.map((model) => ({ ...model, address, where: model.passedTo ?? whereRuns(address) })))
    .toSorted(byPreference)

export const isHere = ({ where }: Candidate): boolean => where === HERE

/**
 * Prefers models on this machine; not known to lack tools; in memory; made for tools, according to the server or the name; the newest. Ties
 * keep the order of the servers.
 */
function byPreference(a: Candidate, b: Candidate): number {
  const first = (is: (one: Candidate) => boolean): number => Number(is(b)) - Number(is(a))
  return (
    first(isHere) ||
    first(({ tools }) => tools !== false) ||
    first(({ loaded }) => loaded === true) ||
    first(({ tools, name }) => profileOf(name)?.tools ?? tools === true) ||
    (b.modifiedAt ?? 0) - (a.modifiedAt ?? 0)
  )
}
