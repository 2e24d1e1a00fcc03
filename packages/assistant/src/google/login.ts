/** Logs a person in to Google: the flow for installed apps, with PKCE and a redirect to this machine (RFC 8252). */
import { createHash, randomBytes } from 'node:crypto'
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
  /** An address of this machine, and what arrives there with the state. */
  readonly callback: { readonly redirectUrl: string; readonly answer: (state: string) => Promise<URLSearchParams> }
  /** Shows the address to the person, and opens it if it can. */
  readonly show: (url: string) => void
  readonly signal: AbortSignal
  readonly endpoints?: GoogleEndpoints | undefined
}

/** A login that was not completed. The message is for the person. */
export class LoginFailed extends Error {}

/**
 * Waits until the person has agreed in the browser, and stores the login.
 *
 * @throws LoginFailed if the person declines, or Google does not grant what is needed
 */
export async function loginToGoogle({
  client,
  file,
  callback,
  show,
  signal,
  endpoints,
  keychain,
}: LoginOptions): Promise<GoogleLogin & { readonly place: SecretPlace }> {
  const { OAuth2Client, CodeChallengeMethod } = await import('google-auth-library')
  const state = randomBytes(24).toString('base64url')
  const verifier = randomBytes(48).toString('base64url')
  const oauth = new OAuth2Client({
    ...client,
    redirectUri: callback.redirectUrl,
    ...(endpoints && { endpoints }),
    transporterOptions: { retry: false, retryConfig: { retry: 0 } },
  })
  const answered = callback.answer(state)
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
  const answer = await Promise.race([answered, stopped(signal)])
  const code = answer.get('code')
  if (code === null) throw new LoginFailed(`The login was declined (${(answer.get('error') ?? 'no code').slice(0, 100)}).`)
  const { tokens } = await oauth.getToken({ code, codeVerifier: verifier }).catch((error: unknown) => {
    throw new LoginFailed(`Google did not accept the login: ${reasonOf(error)}`)
  })
  if (!tokens.refresh_token)
    throw new LoginFailed('Google sent no refresh token. Remove the access at https://myaccount.google.com/connections, and try again.')
  const scopes = tokens.scope?.split(' ') ?? [...SCOPES]
  const login = { ...client, refreshToken: tokens.refresh_token, scopes, since: new Date().toISOString() }
  return { ...login, place: await saveLogin(file, login, 'refreshToken', { keychain }) }
}

/** Never resolves. @throws LoginFailed once the signal aborts */
const stopped = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const stop = (): void => reject(new LoginFailed('The login was stopped.'))
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
  })

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

function reasonOf(error: unknown): string {
  const { response, message } = error as { readonly response?: { readonly data?: unknown }; readonly message?: string }
  const { error: code, error_description: text } = (response?.data ?? {}) as Readonly<Record<string, unknown>>
  return String(text ?? code ?? message ?? 'unknown').slice(0, 300)
}
