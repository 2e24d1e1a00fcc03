/** Logs a person in to a server, and out: OAuth with PKCE and an answer at a loopback address, by the protocol's official client. */
import { randomBytes } from 'node:crypto'
import {
  auth,
  discoverOAuthServerInfo,
  extractWWWAuthenticateParams,
  type FetchLike,
  type OAuthClientProvider,
  type OAuthServerInfo,
  type StoredOAuthClientInformation,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { withoutSecrets } from '../secrets.ts'
import { authFetch, isSafe } from './auth-fetch.ts'
import { type Callback, openCallback } from './callback.ts'
import { type CredentialStore, expiryOf, type Login, resourceOf, secretsOf, withLogin } from './credentials.ts'

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
  const issuer = issuerOf(found)
  const known = (await store.read()).clients[issuer]
  const { callback, client } = await callbackFor(settings, known)
  await using _ = callback
  const one = provider({ ...settings, url, store, issuer, found, client, redirectUrl: callback.redirectUrl })
  const answered = callback.answer(one.sent)
  let code = ''
  try {
    const scope = settings.scope ?? challenge.scope
    await auth(one.provider, { serverUrl: url, fetchFn, forceReauthorization: true, ...(scope !== undefined && { scope }) })
    open(one.address(), callback.pasted)
    const stopped = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
    signal.throwIfAborted()
    const params = await Promise.race([answered, stopped])
    code = params.get('code') ?? ''
    // Checks the issuer before anything else in the answer is believed.
    await new StreamableHTTPClientTransport(new URL(url), { authProvider: one.provider, fetch: fetchFn }).finishAuth(params)
  } catch (error) {
    throw new Error(withoutSecrets([...one.secrets(), code].filter((secret) => secret !== ''))((error as Error).message))
  }
  return { issuer, scope: one.login()?.tokens.scope }
}

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

const issuerOf = ({ authorizationServerMetadata, authorizationServerUrl }: OAuthServerInfo): string =>
  authorizationServerMetadata?.issuer ?? String(authorizationServerUrl)

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

interface ProviderOptions extends OAuthSettings {
  readonly url: string
  readonly store: CredentialStore
  readonly issuer: string
  readonly found: OAuthServerInfo
  readonly client: StoredOAuthClientInformation | undefined
  readonly redirectUrl: string
}

interface OneLogin {
  readonly provider: OAuthClientProvider
  /** The state that was sent. */
  readonly sent: string
  readonly address: () => URL
  readonly login: () => Login | undefined
  readonly secrets: () => readonly string[]
}

function provider({ url, store, issuer, found, client: given, redirectUrl, clientId, scope }: ProviderOptions): OneLogin {
  const sent = randomBytes(32).toString('base64url')
  let client = given && { ...given, issuer }
  let login: Login | undefined
  let verifier = ''
  let address: URL | undefined
  const provider: OAuthClientProvider = {
    redirectUrl,
    clientMetadata: {
      ...{ client_name: 'Mulligan', redirect_uris: [redirectUrl], token_endpoint_auth_method: 'none', response_types: ['code'] },
      grant_types: ['authorization_code', 'refresh_token'],
      ...(scope !== undefined && { scope }),
    },
    state: () => sent,
    clientInformation: () => client,
    async saveClientInformation(registered) {
      client = { ...registered, issuer }
      if (clientId === undefined)
        await store.change((now) => ({ ...now, clients: { ...now.clients, [issuer]: { ...registered, issuer } } }))
    },
    tokens: () => undefined,
    async saveTokens(tokens) {
      const { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata } = found
      if (!client) throw new Error('there is no client')
      login = {
        ...{ issuer, client, tokens, metadata, authorizationServer: String(authorizationServerUrl) },
        ...{ resource: resourceMetadata?.resource, expiresAt: expiryOf(tokens.expires_in) },
      }
      await store.change((now) => withLogin(now, url, login))
    },
    redirectToAuthorization(to) {
      if (!isSafe(to)) throw new Error(`${to.origin} can't be used for a login: it must have https`)
      address = to
    },
    saveCodeVerifier(one) {
      verifier = one
    },
    codeVerifier: () => verifier,
    discoveryState: () => found,
    saveDiscoveryState: () => undefined,
    async invalidateCredentials(what) {
      if (what !== 'client' && what !== 'all') return
      client = undefined
      await store.change((now) => {
        const { [issuer]: _, ...clients } = now.clients
        return { ...now, clients }
      })
    },
  }
  return {
    ...{ provider, sent },
    address() {
      if (!address) throw new Error('the authorization server has named no address')
      return address
    },
    login: () => login,
    secrets: () => [verifier, client?.client_secret ?? '', ...(login ? secretsOf(login) : [])],
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
