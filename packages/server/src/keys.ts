/**
 * Which API keys a session may use. A client may name any address as its model server; keys go only to the addresses that the owner of this
 * server has configured.
 */
import type { Env } from '@mulligan/host'

export interface KeyPolicy {
  /** Origins that the owner's settings name. */
  readonly origins: ReadonlySet<string>
}

export const originOf = (url: string): string | undefined => (URL.canParse(url) ? new URL(url).origin : undefined)

/** Variables that hold credentials. */
const IS_SECRET = /(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)$/i

/** Returns the variables for a session whose client has named this address. */
export function envFor(env: Env, { origins }: KeyPolicy, baseUrl: string | undefined): Env {
  const origin = baseUrl === undefined ? undefined : originOf(baseUrl)
  if (baseUrl === undefined || (origin !== undefined && origins.has(origin))) return env
  return Object.fromEntries(Object.entries(env).filter(([name]) => !IS_SECRET.test(name)))
}
