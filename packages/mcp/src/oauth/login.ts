/** Logs a person in to a server, and out: OAuth with PKCE and an answer at a loopback address, by the protocol's official client. */
import { randomBytes } from 'node:crypto'
import {
  checkResourceAllowed,
  discoverOAuthServerInfo,
  exchangeAuthorization,
  extractWWWAuthenticateParams,
  type FetchLike,
  OAuthError,
  type OAuthServerInfo,
  registerClient,
  type StoredOAuthClientInformation,
  startAuthorization,
  validateAuthorizationResponseIssuer,
} from '@modelcontextprotocol/client'
import { withoutSecrets } from '../secrets.ts'
import { authFetch, isSafe } from './auth-fetch.ts'
import { type Callback, openCallback } from './callback.ts'
import { type CredentialStore, expiryOf, type Login, resourceOf, withLogin } from './credentials.ts'

/** A client that the person has registered at the authorization server. */
export interface OAuthSettings {
  /** Its id, or the https address of its metadata. Absent: mulligan registers itself. */
  readonly clientId?: string | undefined
  readonly clientSecret?: string | undefined
  readonly scope?: string | undefined
  /** The port of the loopback address to which the browser returns. */
  readonly callbackPort?: number | undefined
}

export interface LoginOptions extends OAuthSettings {
  readonly url: string
  readonly store: CredentialStore
  /** Shows the address of the authorization server to the person. @param paste takes the address that the browser was sent to */
  readonly open: (url: URL, paste: (text: string) => boolean) => void
  readonly signal: AbortSignal
}

export interface LoggedIn {
  readonly issuer: string
  readonly scope?: string | undefined
}

/** @throws Error saying why the person is not logged in, without any secret */
export async function logIn({ url, store, open, signal, ...settings }: LoginOptions): Promise<LoggedIn> {
  const fetchFn = authFetch(url)
  const challenge = await challengeOf(url, signal)
  const found = await discoverOAuthServerInfo(url, { fetchFn, ...challenge })
  const { authorizationServerMetadata: metadata, authorizationServerUrl: server } = found
  const issuer = metadata?.issuer ?? String(server)
  const resource = resourceIn(found, url)
  const scope = lasting(settings.scope ?? challenge.scope ?? found.resourceMetadata?.scopes_supported?.join(' '), found)
  const { callback, client: known } = await callbackFor(settings, (await store.read()).clients[issuer])
  await using _ = callback
  const { redirectUrl } = callback
  const client = known ?? (await registered())
  const common = { ...(metadata && { metadata }), clientInformation: client, ...(resource !== undefined && { resource }) }

  async function registered(): Promise<StoredOAuthClientInformation> {
    const one = await registerClient(server, { ...(metadata && { metadata }), clientMetadata: metadataOf(redirectUrl, scope), fetchFn })
    const client = { ...one, issuer }
    await store.change((now) => ({ ...now, clients: { ...now.clients, [issuer]: client } }))
    return client
  }

  const state = randomBytes(32).toString('base64url')
  const request = await startAuthorization(server, { ...common, redirectUrl, state, ...(scope !== undefined && { scope }) })
  const { authorizationUrl, codeVerifier } = request
  if (!isSafe(authorizationUrl)) throw new Error(`${authorizationUrl.origin} can't be used for a login: it must have https`)
  const answered = callback.answer(state)
  open(authorizationUrl, callback.pasted)
  const params = await Promise.race([answered, stopOf(signal)])
  const iss = params.get('iss') ?? undefined
  const issParameterSupported = metadata?.authorization_response_iss_parameter_supported === true
  // Before anything else in the answer is believed.
  validateAuthorizationResponseIssuer({ iss, expectedIssuer: metadata?.issuer, issParameterSupported })
  const authorizationCode = params.get('code')
  if (authorizationCode === null) throw new Error(params.get('error_description') ?? params.get('error') ?? 'the response has no code')
  try {
    const given = { authorizationCode, codeVerifier, redirectUri: redirectUrl, fetchFn, ...(iss !== undefined && { iss }) }
    const tokens = await exchangeAuthorization(server, { ...common, ...given })
    const login = {
      issuer,
      authorizationServer: String(server),
      metadata,
      client,
      resource,
      tokens,
      expiresAt: expiryOf(tokens.expires_in),
    }
    await store.change((now) => withLogin(now, url, login))
    return { issuer, scope: tokens.scope }
  } catch (error) {
    if (error instanceof OAuthError && error.code === 'invalid_client') await forget(issuer, store)
    const secrets = [authorizationCode, codeVerifier, ...(client.client_secret === undefined ? [] : [client.client_secret])]
    throw new Error(withoutSecrets(secrets)((error as Error).message))
  }
}

/** What the authorization server is told of mulligan. */
const metadataOf = (redirectUrl: string, scope: string | undefined) => ({
  ...{ client_name: 'Mulligan', application_type: 'native', redirect_uris: [redirectUrl], response_types: ['code'] },
  ...{ grant_types: ['authorization_code', 'refresh_token'], token_endpoint_auth_method: 'none' },
  ...(scope !== undefined && { scope }),
})

/** Asks for a refresh token too, where that is a right of its own. */
const lasting = (scope: string | undefined, { authorizationServerMetadata: metadata }: OAuthServerInfo): string | undefined =>
  scope && metadata?.scopes_supported?.includes(OFFLINE) && !scope.split(' ').includes(OFFLINE) ? `${scope} ${OFFLINE}` : scope

const OFFLINE = 'offline_access'

/** @throws Error if the server claims to be another one */
function resourceIn({ resourceMetadata }: OAuthServerInfo, url: string): string | undefined {
  const resource = resourceMetadata?.resource
  if (resource === undefined || checkResourceAllowed({ requestedResource: url, configuredResource: resource })) return resource
  throw new Error(`it requests a login for ${resource}, which is a different server`)
}

/** The authorization server does not know the client any more: the next login registers it again. */
const forget = (issuer: string, store: CredentialStore): Promise<void> =>
  store.change((now) => ({ ...now, clients: Object.fromEntries(Object.entries(now.clients).filter(([one]) => one !== issuer)) }))

const stopOf = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const stop = (): void => reject(signal.reason)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
  })

/** What a server without a login says about the one it wants. */
async function challengeOf(url: string, signal: AbortSignal): Promise<{ resourceMetadataUrl?: URL; scope?: string }> {
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
  const response = await authFetch(url)(url, {
    ...{ method: 'POST', body: JSON.stringify(ping), signal },
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
  })
  await response.body?.cancel()
  const { resourceMetadataUrl, scope } = response.status === 401 ? extractWWWAuthenticateParams(response) : {}
  return { ...(resourceMetadataUrl && { resourceMetadataUrl }), ...(scope !== undefined && { scope }) }
}

/** Listens where the registered client said. If that port is taken, the client has to be registered again with another one. */
async function callbackFor(
  { clientId, clientSecret, callbackPort }: OAuthSettings,
  known: StoredOAuthClientInformation | undefined,
): Promise<{ readonly callback: Callback; readonly client?: StoredOAuthClientInformation }> {
  const own = clientId !== undefined && { client_id: clientId, ...(clientSecret !== undefined && { client_secret: clientSecret }) }
  if (own) return { callback: await openCallback(callbackPort ?? 0), client: own }
  const [redirect] = known && 'redirect_uris' in known ? known.redirect_uris : []
  const port = Number(URL.parse(redirect ?? '')?.port ?? 0)
  if (callbackPort !== undefined && callbackPort !== port) return { callback: await openCallback(callbackPort) }
  if (!known || port === 0) return { callback: await openCallback(0) }
  try {
    return { callback: await openCallback(port), client: known }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    return { callback: await openCallback(0) }
  }
}

/** Forgets the tokens of a server, and has them revoked if the authorization server can. @returns false if there were none */
export async function logOut(url: string, store: CredentialStore): Promise<boolean> {
  let login: Login | undefined
  await store.change((now) => {
    login = now.logins[resourceOf(url)]
    return withLogin(now, url, undefined)
  })
  if (!login) return false
  await revoke(login, authFetch(url)).catch(() => undefined)
  return true
}

async function revoke({ metadata, tokens, client }: Login, fetchFn: FetchLike): Promise<void> {
  const { revocation_endpoint: endpoint } = (metadata ?? {}) as { readonly revocation_endpoint?: string }
  if (endpoint === undefined) return
  const body = new URLSearchParams({
    ...{ token: tokens.refresh_token ?? tokens.access_token, client_id: client.client_id },
    ...(client.client_secret !== undefined && { client_secret: client.client_secret }),
  })
  await (await fetchFn(endpoint, { method: 'POST', body })).body?.cancel()
}
