/** The token of a server in use: read where it is stored, and refreshed when it has expired. */
import {
  type AuthProvider,
  type FetchLike,
  InsufficientScopeError,
  OAuthError,
  refreshAuthorization,
  SdkError,
  SdkErrorCode,
} from '@modelcontextprotocol/client'
import { withoutSecrets } from '../secrets.ts'
import { authFetch } from './auth-fetch.ts'
import { type CredentialStore, type Credentials, expiryOf, type Login, resourceOf, secretsOf, withLogin } from './credentials.ts'
import { LoginNeeded, TokenFailed } from './errors.ts'

export interface TokenSource extends AuthProvider {
  /** Removes the tokens from a text. */
  readonly redact: (text: string) => string
  /** For the connection's requests: notes which token each had. */
  readonly fetch: FetchLike
}

/** Milliseconds before it expires that a token is refreshed. */
const EARLY = 30_000

/** @param name what the person calls the server, for the command to log in */
export function tokenSource(name: string, url: string, store: CredentialStore): TokenSource {
  const resource = resourceOf(url)
  let login: Login | undefined
  const secrets = new Set<string>()
  const sent = new WeakMap<Response, string>()

  const take = (found: Login | undefined): string | undefined => {
    login = found
    for (const secret of found ? secretsOf(found) : []) secrets.add(secret)
    return found?.tokens.access_token
  }

  /** @param refused the token that does not count any more. Another process may have refreshed it. */
  async function renewed(refused: string | undefined): Promise<void> {
    let failure: unknown
    await store.change(async (now): Promise<Credentials> => {
      const stored = now.logins[resource]
      if (!stored || stored.tokens.access_token !== refused) {
        take(stored)
        return now
      }
      take(undefined)
      try {
        const fresh = await refreshed(stored, url)
        take(fresh)
        return withLogin(now, url, fresh)
      } catch (error) {
        failure = error
        return isFinal(error) ? withLogin(now, url, undefined) : now
      }
    })
    if (failure !== undefined && !isFinal(failure)) throw new TokenFailed(`its token can't be refreshed: ${reasonOf(failure, redact)}`)
    if (!login) throw loginNeeded(name)
  }

  const redact = (text: string): string => withoutSecrets([...secrets])(text)
  return {
    redact,
    async token() {
      if (!login) take((await store.read()).logins[resource])
      if (login?.expiresAt !== undefined && login.expiresAt - EARLY < Date.now()) await renewed(login.tokens.access_token)
      return login?.tokens.access_token
    },
    onUnauthorized: ({ response }) => renewed(sent.get(response)),
    async fetch(address, init) {
      const response = await fetch(address, init)
      const token = new Headers(init?.headers).get('authorization')?.replace(/^Bearer /, '')
      if (token !== undefined) sent.set(response, token)
      return response
    },
  }
}

/** The body of an error may be anything. */
const reasonOf = (failure: unknown, redact: (text: string) => string): string => {
  const [line = ''] = redact((failure as Error).message).split('\n')
  return line.replace(/: Invalid OAuth error response.*/, '').slice(0, 300)
}

/** The authorization server has said that the login does not count any more, or that there is nothing to refresh it with. */
const isFinal = (error: unknown): boolean => (error instanceof OAuthError && FINAL.has(error.code)) || error instanceof LoginNeeded

const FINAL: ReadonlySet<string> = new Set(['invalid_grant', 'invalid_client', 'unauthorized_client'])

async function refreshed({ tokens, ...login }: Login, url: string): Promise<Login> {
  const { refresh_token: refreshToken } = tokens
  if (refreshToken === undefined) throw new LoginNeeded('there is no refresh token')
  const { metadata, client, resource, authorizationServer } = login
  const fresh = await refreshAuthorization(authorizationServer, {
    ...{ clientInformation: client, refreshToken, fetchFn: authFetch(url) },
    ...(metadata && { metadata }),
    ...(resource !== undefined && { resource }),
  })
  return { ...login, tokens: { ...fresh, scope: fresh.scope ?? tokens.scope }, expiresAt: expiryOf(fresh.expires_in) }
}

const loginNeeded = (name: string): LoginNeeded =>
  new LoginNeeded(`it needs a login: \`mulligan mcp login ${name}\` (or put your own key in its headers)`)

/** What an error of the connection says about the login. @returns undefined if it is about something else */
export function loginErrorOf(name: string, error: unknown): LoginNeeded | undefined {
  if (error instanceof LoginNeeded) return error
  if (error instanceof SdkError && error.code === SdkErrorCode.ClientHttpAuthentication) return loginNeeded(name)
  if (!(error instanceof InsufficientScopeError)) return undefined
  const scope = (error.requiredScope ?? '').replace(/[^\x21\x23-\x5b\x5d-\x7e ]/g, '')
  return new LoginNeeded(`it needs more scopes: \`mulligan mcp login ${name}${scope === '' ? '' : ` --scope "${scope}"`}\` requests them`)
}
