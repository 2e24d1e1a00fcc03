/** Google's authorization server as far as a login needs it, as strict as the original: PKCE, redirect, one use of a code, rotation. */
import { createHash } from 'node:crypto'
import { type Service, type ServiceAnswer, type ServiceOptions, type ServiceRequest, startService } from './service.ts'

export interface StrictOAuthOptions extends ServiceOptions {
  readonly clientId?: string
  readonly clientSecret?: string
  /** The access token that is issued. Default: `ya29.test`. */
  readonly accessToken?: string
}

export interface StrictOAuth extends Service {
  /** Addresses in the form of `google-auth-library`. */
  readonly endpoints: { readonly oauth2AuthBaseUrl: string; readonly oauth2TokenUrl: string; readonly oauth2RevokeUrl: string }
  /** Agrees to the login at this address as a person in a browser would, or declines it. Returns the page that is shown then. */
  readonly consent: (url: string, options?: { readonly decline?: boolean }) => Promise<string>
  /** Refresh tokens that are valid. */
  readonly valid: ReadonlySet<string>
  /** Makes all refresh tokens invalid, as when a person removes the access. */
  readonly revokeAll: () => void
}

const fail = (error: string, description = error): ServiceAnswer => ({ status: 400, body: { error, error_description: description } })

/** Starts an authorization server. */
export async function strictOAuth(options: StrictOAuthOptions = {}): Promise<StrictOAuth> {
  const { clientId = 'test.apps.googleusercontent.com', clientSecret = 'desktop', accessToken = 'ya29.test' } = options
  const codes = new Map<string, URLSearchParams>()
  const valid = new Set<string>()
  let count = 0

  function token(given: URLSearchParams): ServiceAnswer {
    if (given.get('client_id') !== clientId || given.get('client_secret') !== clientSecret) return fail('invalid_client')
    if (given.get('grant_type') === 'refresh_token') {
      if (!valid.has(given.get('refresh_token') ?? '')) return fail('invalid_grant', 'Token has been expired or revoked.')
      return { body: { access_token: accessToken, expires_in: 3599, token_type: 'Bearer' } }
    }
    const asked = codes.get(given.get('code') ?? '')
    codes.delete(given.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(given.get('code_verifier') ?? '')
      .digest('base64url')
    if (!asked || asked.get('redirect_uri') !== given.get('redirect_uri') || asked.get('code_challenge') !== challenge)
      return fail('invalid_grant', 'Bad Request')
    const refresh = `1//refresh-${++count}`
    valid.add(refresh)
    return {
      body: { access_token: accessToken, refresh_token: refresh, scope: asked.get('scope'), expires_in: 3599, token_type: 'Bearer' },
    }
  }

  function handle({ method, path, body, query }: ServiceRequest): ServiceAnswer {
    if (method === 'POST' && path === '/token') return token(new URLSearchParams(body))
    if (method === 'POST' && path === '/revoke') {
      return valid.delete(query.get('token') ?? new URLSearchParams(body).get('token') ?? '') ? { body: {} } : fail('invalid_token')
    }
    return { status: 404, body: 'Not Found' }
  }

  async function consent(url: string, { decline = false } = {}): Promise<string> {
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
    return (await fetch(redirect)).text()
  }

  const service = await startService(handle, options)
  const { url } = service
  const endpoints = { oauth2AuthBaseUrl: `${url}/auth`, oauth2TokenUrl: `${url}/token`, oauth2RevokeUrl: `${url}/revoke` }
  return { ...service, endpoints, consent, valid, revokeAll: () => valid.clear() }
}
