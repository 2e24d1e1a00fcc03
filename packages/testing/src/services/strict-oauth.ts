/**
 * Google's authorization server as far as a login needs it, as strict as the original: PKCE, redirect, one use of a code, rotation, and the
 * signed assertions of service accounts.
 */
import { createHash, createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import { type Service, type ServiceAnswer, type ServiceOptions, type ServiceRequest, startService } from './service.ts'

export interface StrictOAuthOptions extends ServiceOptions {
  readonly clientId?: string
  readonly clientSecret?: string
  /** The access token that is issued; after it has expired, one with a number behind it. Default: `ya29.test`. */
  readonly accessToken?: string
}

/** What issues tokens and knows which are valid. */
export interface TokenIssuer {
  /** Refresh tokens that are valid. */
  readonly valid: ReadonlySet<string>
  /** Whether an access token was issued and has not expired. */
  readonly accepts: (accessToken: string) => boolean
  /** Makes all access tokens invalid, as when they expire or are taken back early. */
  readonly expireAll: () => void
  /** Makes all refresh tokens invalid, as when a person removes the access. */
  readonly revokeAll: () => void
  /** A login that is valid, as `mulligan auth google` stores it. */
  readonly login: () => GoogleLoginFile
  /** The content of the key file of a service account that this server knows. */
  readonly serviceAccount: () => Readonly<Record<string, string>>
}

export interface GoogleLoginFile {
  readonly clientId: string
  readonly clientSecret: string
  readonly refreshToken: string
  readonly scopes: readonly string[]
  readonly since: string
}

export interface StrictOAuth extends Service, TokenIssuer {
  /** Addresses in the form of `google-auth-library`. */
  readonly endpoints: { readonly oauth2AuthBaseUrl: string; readonly oauth2TokenUrl: string; readonly oauth2RevokeUrl: string }
  /**
   * Agrees to the login at this address as a person in a browser would, or declines it. Returns the page that is shown then; `elsewhere`,
   * on another machine, the address that the browser can't reach.
   */
  readonly consent: (url: string, options?: { readonly decline?: boolean; readonly elsewhere?: boolean }) => Promise<string>
}

const SCOPES = ['drive.readonly', 'gmail.readonly', 'gmail.compose', 'calendar.events'].map(
  (name) => `https://www.googleapis.com/auth/${name}`,
)
const TOKENS = 'https://oauth2.googleapis.com/token'
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

const fail = (error: string, description = error): ServiceAnswer => ({ status: 400, body: { error, error_description: description } })

/** Starts an authorization server. */
export async function strictOAuth(options: StrictOAuthOptions = {}): Promise<StrictOAuth> {
  const { handle, consent, issuer } = authorization(options)
  const service = await startService((request) => handle(request) ?? { status: 404, body: 'Not Found' }, options)
  const { url } = service
  const endpoints = { oauth2AuthBaseUrl: `${url}/auth`, oauth2TokenUrl: `${url}/token`, oauth2RevokeUrl: `${url}/revoke` }
  return { ...service, ...issuer, endpoints, consent }
}

/** The server without its address: `handle` returns undefined for what is none of its requests. */
export function authorization(options: Omit<StrictOAuthOptions, 'fault'> = {}) {
  const { clientId = 'test.apps.googleusercontent.com', clientSecret = 'desktop', accessToken = 'ya29.test' } = options
  const codes = new Map<string, URLSearchParams>()
  const valid = new Set<string>()
  const accepted = new Set<string>()
  const accounts = new Map<string, string>()
  let count = 0
  let expired = 0

  function grant(more: object = {}): ServiceAnswer {
    const access = expired === 0 ? accessToken : `${accessToken}-${expired}`
    accepted.add(access)
    return { body: { access_token: access, expires_in: 3599, token_type: 'Bearer', ...more } }
  }

  function newRefreshToken(): string {
    const refresh = `1//refresh-${++count}`
    valid.add(refresh)
    return refresh
  }

  function token(given: URLSearchParams): ServiceAnswer {
    if (given.get('grant_type') === JWT_BEARER) return assertion(given.get('assertion') ?? '')
    if (given.get('client_id') !== clientId || given.get('client_secret') !== clientSecret) return fail('invalid_client')
    if (given.get('grant_type') === 'refresh_token') {
      if (!valid.has(given.get('refresh_token') ?? '')) return fail('invalid_grant', 'Token has been expired or revoked.')
      return grant()
    }
    const asked = codes.get(given.get('code') ?? '')
    codes.delete(given.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(given.get('code_verifier') ?? '')
      .digest('base64url')
    if (!asked || asked.get('redirect_uri') !== given.get('redirect_uri') || asked.get('code_challenge') !== challenge)
      return fail('invalid_grant', 'Bad Request')
    return grant({ refresh_token: newRefreshToken(), scope: asked.get('scope') })
  }

  /** The assertion of a service account: https://developers.google.com/identity/protocols/oauth2/service-account#authorizingrequests */
  function assertion(jwt: string): ServiceAnswer {
    const [head = '', body = '', signature = ''] = jwt.split('.')
    const { alg } = decoded(head)
    const { iss, aud, scope, iat, exp } = decoded(body)
    const key = accounts.get(String(iss))
    if (key === undefined) return fail('invalid_grant', 'Invalid grant: account not found')
    const isSigned = verify('sha256', Buffer.from(`${head}.${body}`), createPublicKey(key), Buffer.from(signature, 'base64url'))
    if (alg !== 'RS256' || !isSigned) return fail('invalid_grant', 'Invalid JWT Signature.')
    const now = Date.now() / 1000
    if (aud !== TOKENS || Number(exp) - Number(iat) > 3600 || Number(exp) < now || Number(iat) > now + 60)
      return fail('invalid_grant', 'Invalid JWT: Token must be a short-lived token and in a reasonable timeframe.')
    if (
      String(scope) === '' ||
      !String(scope)
        .split(' ')
        .every((one) => SCOPES.includes(one))
    )
      return fail('invalid_scope')
    return grant()
  }

  /** Returns undefined if the request is for another service. */
  function handle({ method, path, body, query }: ServiceRequest): ServiceAnswer | undefined {
    if (method === 'POST' && path === '/token') return token(new URLSearchParams(body))
    if (method === 'POST' && path === '/revoke') {
      return valid.delete(query.get('token') ?? new URLSearchParams(body).get('token') ?? '') ? { body: {} } : fail('invalid_token')
    }
    return undefined
  }

  async function consent(url: string, { decline = false, elsewhere = false } = {}): Promise<string> {
    const asked = new URL(url).searchParams
    const redirect = new URL(asked.get('redirect_uri') ?? '')
    if (redirect.hostname !== '127.0.0.1' || asked.get('client_id') !== clientId || asked.get('code_challenge_method') !== 'S256')
      throw new Error('Error 400: invalid_request')
    const code = `4/code-${++count}`
    codes.set(code, asked)
    redirect.search = new URLSearchParams({
      state: asked.get('state') ?? '',
      ...(decline ? { error: 'access_denied' } : { code }),
    }).toString()
    return elsewhere ? redirect.href : (await fetch(redirect)).text()
  }

  function serviceAccount(): Readonly<Record<string, string>> {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    })
    const client_email = `bot-${++count}@test.iam.gserviceaccount.com`
    accounts.set(client_email, publicKey)
    return { type: 'service_account', project_id: 'test', private_key_id: '1', private_key: privateKey, client_email, token_uri: TOKENS }
  }

  const issuer: TokenIssuer = {
    valid,
    accepts: (access) => accepted.has(access),
    expireAll: () => {
      accepted.clear()
      expired++
    },
    revokeAll: () => valid.clear(),
    login: () => ({ clientId, clientSecret, refreshToken: newRefreshToken(), scopes: SCOPES, since: new Date(0).toISOString() }),
    serviceAccount,
  }
  return { handle, consent, issuer }
}

function decoded(part: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString('utf8')) as Record<string, unknown>
  } catch {
    return {}
  }
}
