/** Logs a person in to Google: the flow for installed apps, with PKCE and a redirect to this machine (RFC 8252). */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { removeLogin, type SecretOptions, type SecretPlace, saveLogin } from '../common/secrets.ts'
import { type GoogleEndpoints, type GoogleLogin, readLogin, SCOPES } from './credentials.ts'

export interface OAuthClient {
  readonly clientId: string
  /** Of an app of the type "Desktop app" it is no secret: https://developers.google.com/identity/protocols/oauth2#installed */
  readonly clientSecret: string
}

export interface LoginOptions extends SecretOptions {
  readonly client: OAuthClient
  /** Where the login is kept. */
  readonly file: string
  /** Shows the address to the person, and opens it if it can. */
  readonly show: (url: string) => void
  readonly signal: AbortSignal
  readonly endpoints?: GoogleEndpoints | undefined
}

/** A login that was not completed. The message is for the person. */
export class LoginFailed extends Error {}

const PAGE = (text: string): string =>
  `<!doctype html><meta charset="utf-8"><title>Mulligan</title><body style="font: 1.1rem system-ui; margin: 4rem auto; max-width: 30rem"><p>${text}</p>`

/**
 * Waits until the person has agreed in the browser, and stores the login.
 *
 * @throws LoginFailed if the person declines, or Google does not grant what is needed
 */
export async function loginToGoogle({
  client,
  file,
  show,
  signal,
  endpoints,
  keychain,
}: LoginOptions): Promise<GoogleLogin & { readonly place: SecretPlace }> {
  const { OAuth2Client, CodeChallengeMethod } = await import('google-auth-library')
  const state = randomBytes(24).toString('base64url')
  const verifier = randomBytes(48).toString('base64url')
  const redirect = await receiveRedirect(state, signal)
  try {
    const oauth = new OAuth2Client({
      ...client,
      redirectUri: redirect.uri,
      ...(endpoints && { endpoints }),
      transporterOptions: { retry: false, retryConfig: { retry: 0 } },
    })
    show(
      oauth.generateAuthUrl({
        access_type: 'offline',
        prompt: 'consent',
        scope: [...SCOPES],
        state,
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: CodeChallengeMethod.S256,
      }),
    )
    const code = await redirect.code
    const { tokens } = await oauth.getToken({ code, codeVerifier: verifier }).catch((error: unknown) => {
      throw new LoginFailed(`Google did not accept the login: ${reasonOf(error)}`)
    })
    if (!tokens.refresh_token)
      throw new LoginFailed('Google sent no refresh token. Remove the access at https://myaccount.google.com/connections, and try again.')
    const scopes = tokens.scope?.split(' ') ?? [...SCOPES]
    const login = { ...client, refreshToken: tokens.refresh_token, scopes, since: new Date().toISOString() }
    return { ...login, place: await saveLogin(file, login, 'refreshToken', { keychain }) }
  } finally {
    redirect.close()
  }
}

/** Revokes the login at Google and removes it here. Returns false if Google could not be told. */
export async function logoutOfGoogle(file: string, endpoints?: GoogleEndpoints): Promise<boolean> {
  const { clientId, clientSecret, refreshToken } = await readLogin(file).catch(() => ({ clientId: '', clientSecret: '', refreshToken: '' }))
  const { OAuth2Client } = await import('google-auth-library')
  const oauth = new OAuth2Client({ clientId, clientSecret, ...(endpoints && { endpoints }) })
  const isRevoked =
    refreshToken !== '' &&
    (await oauth.revokeToken(refreshToken).then(
      () => true,
      () => false,
    ))
  await removeLogin(file)
  return isRevoked
}

/** Listens on a free port of this machine for the one redirect with the right state. */
async function receiveRedirect(state: string, signal: AbortSignal) {
  const { promise: code, resolve, reject } = Promise.withResolvers<string>()
  // Awaited later; until then a rejection must not count as unhandled.
  code.catch(() => undefined)
  const server = createServer((request, response) => {
    const { pathname, searchParams: given } = new URL(request.url ?? '/', 'http://localhost')
    const end = (status: number, text: string): void => {
      response.writeHead(status, {
        'content-type': 'text/html; charset=utf-8',
        connection: 'close',
        'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
      })
      response.end(PAGE(text))
    }
    if (pathname !== '/' || !isSame(given.get('state') ?? '', state)) return end(404, 'This is not the page of a login that was started.')
    const granted = given.get('code')
    end(200, granted ? 'You are logged in. You can close this page.' : 'The login was declined. You can close this page.')
    if (granted) resolve(granted)
    else reject(new LoginFailed(`The login was declined (${(given.get('error') ?? 'no code').slice(0, 100)}).`))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const onAbort = (): void => reject(new LoginFailed('The login was stopped.'))
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  return {
    uri: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    code,
    close: (): void => {
      signal.removeEventListener('abort', onAbort)
      server.close()
      server.closeAllConnections()
    },
  }
}

function isSame(a: string, b: string): boolean {
  const [one, other] = [a, b].map((text) => createHash('sha256').update(text).digest())
  return one !== undefined && other !== undefined && timingSafeEqual(one, other)
}

function reasonOf(error: unknown): string {
  const { response, message } = error as { readonly response?: { readonly data?: unknown }; readonly message?: string }
  const { error: code, error_description: text } = (response?.data ?? {}) as Readonly<Record<string, unknown>>
  return String(text ?? code ?? message ?? 'unknown').slice(0, 300)
}
