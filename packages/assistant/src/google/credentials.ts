/** Credentials for Google: a person's login, kept in a file, or the file of a service account or of gcloud. */
import { existsSync } from 'node:fs'
import { ToolFailure } from '@mulligan/core'
import { readStored } from '../common/secrets.ts'
import { type GoogleAuth, LOGIN } from './client.ts'

/** What the tools need, and nothing else. */
export const SCOPES = [
  'https://www.googleapis.com/auth/drive.readonly',
  'https://www.googleapis.com/auth/gmail.readonly',
  'https://www.googleapis.com/auth/gmail.compose',
  'https://www.googleapis.com/auth/calendar.events',
] as const

/** A person's login, as it is stored. */
export interface GoogleLogin {
  readonly clientId: string
  readonly clientSecret: string
  readonly refreshToken: string
  readonly scopes: readonly string[]
  /** ISO 8601. */
  readonly since: string
}

/** Where Google's token endpoint and the others are; default: Google's own. */
export interface GoogleEndpoints {
  readonly oauth2AuthBaseUrl: string
  readonly oauth2TokenUrl: string
  readonly oauth2RevokeUrl: string
}

export interface CredentialPlaces {
  /** The file with the login. */
  readonly file: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly endpoints?: GoogleEndpoints | undefined
}

/** How this machine is logged in: by a person, or by a file of a service account or of gcloud; undefined if it is not. */
export type GoogleSource = { readonly kind: 'login' | 'file'; readonly file: string } | undefined

/** Finds out without reading a secret. A login comes before `GOOGLE_APPLICATION_CREDENTIALS`. */
export function googleSource({ file, env }: CredentialPlaces): GoogleSource {
  if (existsSync(file)) return { kind: 'login', file }
  const named = env['GOOGLE_APPLICATION_CREDENTIALS']
  return named ? { kind: 'file', file: named } : undefined
}

/** Returns a function for the option `auth`. One client is used for all calls, so that an access token is fetched once an hour. */
export function googleCredentials(places: CredentialPlaces): () => Promise<GoogleAuth | undefined> {
  let opened: { readonly file: string; readonly auth: Promise<GoogleAuth> } | undefined
  return async () => {
    const source = googleSource(places)
    if (!source) return undefined
    if (opened?.file !== source.file) {
      const auth = source.kind === 'login' ? fromLogin(places) : fromFile(source.file, places)
      opened = { file: source.file, auth }
      // What can't be opened now may be repaired by the next call.
      auth.catch(() => {
        opened = undefined
      })
    }
    return opened.auth
  }
}

async function fromLogin({ file, endpoints }: CredentialPlaces): Promise<GoogleAuth> {
  const { clientId, clientSecret, refreshToken } = await readLogin(file)
  const { OAuth2Client } = await import('google-auth-library')
  const client = new OAuth2Client({
    clientId,
    clientSecret,
    ...(endpoints && { endpoints }),
    // A token that Google takes back early is refreshed, and the refused request is made again.
    forceRefreshOnFailure: true,
    transporterOptions: { retry: false, retryConfig: { retry: 0 } },
  })
  client.setCredentials({ refresh_token: refreshToken })
  return client as unknown as GoogleAuth
}

async function fromFile(keyFile: string, { endpoints }: CredentialPlaces): Promise<GoogleAuth> {
  const { GoogleAuth } = await import('google-auth-library')
  try {
    const client = await new GoogleAuth({
      keyFile,
      scopes: [...SCOPES],
      clientOptions: { forceRefreshOnFailure: true, transporterOptions: { retry: false, retryConfig: { retry: 0 } } },
    }).getClient()
    // The library knows no other address for the tokens of a service account.
    if (endpoints)
      client.transporter.interceptors.request.add({
        resolved: async (request) =>
          request.url.href === GOOGLE_TOKENS ? { ...request, url: new URL(endpoints.oauth2TokenUrl) } : request,
      })
    return client as unknown as GoogleAuth
  } catch (cause) {
    throw new ToolFailure(`The credentials file ${keyFile} can't be used. A person has to repair it, or run: ${LOGIN}`, {
      errorType: 'config',
      setting: 'GOOGLE_APPLICATION_CREDENTIALS',
      cause,
    })
  }
}

const GOOGLE_TOKENS = 'https://oauth2.googleapis.com/token'

/** @throws ToolFailure if the file is damaged */
export async function readLogin(file: string): Promise<GoogleLogin> {
  const unusable = (cause: unknown): never => {
    throw new ToolFailure(`The stored login for Google can't be read. A person has to run: ${LOGIN}`, {
      errorType: 'config',
      setting: LOGIN,
      cause,
    })
  }
  const login = ((await readStored(file, 'refreshToken').catch(unusable)) ?? {}) as Partial<GoogleLogin>
  const { clientId, clientSecret = '', refreshToken, scopes = [], since = '' } = login
  if (typeof clientId !== 'string' || typeof refreshToken !== 'string') return unusable(undefined)
  return { clientId, clientSecret, refreshToken, scopes, since }
}
