/** What is stored of logins: the client as each authorization server knows it, and the tokens for each server. */
import type { AuthorizationServerMetadata, StoredOAuthClientInformation } from '@modelcontextprotocol/client'

export interface Tokens {
  readonly access_token: string
  readonly token_type: string
  readonly refresh_token?: string | undefined
  readonly scope?: string | undefined
}

export interface Login {
  readonly issuer: string
  /** The authorization server at the time of the login. Refresh tokens are sent to no other. */
  readonly authorizationServer: string
  readonly metadata?: AuthorizationServerMetadata | undefined
  readonly client: StoredOAuthClientInformation
  /** The resource that the tokens were requested for. */
  readonly resource?: string | undefined
  readonly tokens: Tokens
  /** Milliseconds since 1970. Absent: the authorization server did not say. */
  readonly expiresAt?: number | undefined
}

export interface Credentials {
  /** Registered clients, by issuer. A client is registered once. */
  readonly clients: Readonly<Record<string, StoredOAuthClientInformation>>
  /** By {@link resourceOf} the server's address: a token is sent nowhere else. */
  readonly logins: Readonly<Record<string, Login>>
}

export interface CredentialStore {
  /** @throws Error if they can't be read */
  readonly read: () => Promise<Credentials>
  /** Changes what is stored; other processes wait. @param change returns the new credentials */
  readonly change: (change: (now: Credentials) => Promise<Credentials> | Credentials) => Promise<void>
}

export const NO_CREDENTIALS: Credentials = { clients: {}, logins: {} }

/** Identifies a server: its address without the fragment. */
export function resourceOf(url: string): string {
  const resource = new URL(url)
  resource.hash = ''
  return resource.href
}

export const withLogin = (now: Credentials, url: string, login: Login | undefined): Credentials => {
  const { [resourceOf(url)]: _, ...others } = now.logins
  return { ...now, logins: login ? { ...others, [resourceOf(url)]: login } : others }
}

/** Everything in a login that nobody else may see. */
export const secretsOf = ({ tokens, client }: Pick<Login, 'tokens' | 'client'>): readonly string[] =>
  [tokens.access_token, tokens.refresh_token, client.client_secret].filter((one) => one !== undefined)

/** When tokens that were just issued expire. */
export const expiryOf = (seconds: number | undefined): number | undefined =>
  seconds === undefined ? undefined : Date.now() + seconds * 1000
