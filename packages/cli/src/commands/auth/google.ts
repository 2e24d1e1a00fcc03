/** `mulligan auth google` and `mulligan auth logout google`. */
import { readFileSync } from 'node:fs'
import type { OAuthClient, SecretPlace } from '@mulligan/assistant'
import { oneLine, UsageError } from '@mulligan/host/light'
import { googleLoginFile } from '@mulligan/host/parts'
import { openCallback } from '@mulligan/mcp'
import { fromHome, openDataDir } from '../../paths.ts'
import { EXIT } from '../../process.ts'
import { browserLogin } from '../../ui/browser-login.ts'
import type { Output } from '../../ui/output.ts'
import { print } from '../../ui/text.ts'
import { assistant } from './assistant.ts'

export interface GoogleFlags {
  readonly client?: string
  readonly browser?: boolean
  readonly keychain?: boolean
  readonly json?: boolean
}

const GUIDE = [
  'Mulligan uses your own OAuth client, so nobody else is between you and Google. To create it:',
  '  1. Open https://console.cloud.google.com/apis/library and enable the APIs of Google Drive, Gmail and Google Calendar.',
  '  2. Open https://console.cloud.google.com/auth/clients and create a client of the type "Desktop app". Add yourself as a test user.',
  '  3. Download its JSON file, and run: mulligan auth google --client FILE',
].join('\n')

/** @throws UsageError */
export async function googleCommand({ client: file, browser = true, keychain = true, json }: GoogleFlags, output: Output): Promise<number> {
  const { GOOGLE_SCOPES, googlePlaces, LoginFailed, loginToGoogle, readLogin } = await assistant()
  openDataDir()
  const stored = googleLoginFile(process.env)
  const client = file === undefined ? await readLogin(stored).catch(() => undefined) : clientIn(file)
  if (!client) throw new UsageError('there is no OAuth client', GUIDE)
  using person = browserLogin(browser, output)
  await using callback = await openCallback(0)
  let place: SecretPlace
  try {
    const login = await loginToGoogle({
      keychain,
      client: { clientId: client.clientId, clientSecret: client.clientSecret },
      file: stored,
      callback,
      signal: person.signal,
      endpoints: googlePlaces({ env: process.env, google: stored }).endpoints,
      show: (url) => person.show(new URL(url), callback.pasted),
    })
    place = login.place
  } catch (error) {
    if (!(error instanceof LoginFailed)) throw error
    output.err(`${oneLine(error.message, 400)}\n`)
    return person.isInterrupted() ? EXIT.cancelled : EXIT.failed
  }
  const names = GOOGLE_SCOPES.map((scope) => scope.split('/').at(-1))
  print(output, json, { service: 'google', scopes: names, file: stored, place }, [
    `Logged in to Google (${names.join(', ')}). The login is in ${place === 'keychain' ? 'the keychain' : fromHome(stored)}.`,
    'mulligan auth logout google revokes it.',
  ])
  return EXIT.ok
}

/** Reads the file that the Google Cloud console offers for download. @throws UsageError */
function clientIn(file: string): OAuthClient {
  const hint = `Download it again, as a client of the type "Desktop app".\n${GUIDE}`
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(`${oneLine(file, 300)} can't be read: ${(error as NodeJS.ErrnoException).code}`, GUIDE)
  }
  try {
    const { installed } = JSON.parse(text) as { readonly installed?: { readonly client_id?: unknown; readonly client_secret?: unknown } }
    const { client_id: clientId, client_secret: clientSecret = '' } = installed ?? {}
    if (typeof clientId === 'string' && typeof clientSecret === 'string') return { clientId, clientSecret }
  } catch {
    // reported below
  }
  throw new UsageError(`${oneLine(file, 300)} is not the file of an OAuth client for desktop apps`, hint)
}

/** @returns 1 if there was no login */
export async function logoutCommand({ json }: { readonly json?: boolean }, output: Output): Promise<number> {
  const { googlePlaces, googleSource, logoutOfGoogle } = await assistant()
  const file = googleLoginFile(process.env)
  const places = googlePlaces({ env: process.env, google: file })
  const isLoggedIn = googleSource(places)?.kind === 'login'
  if (!isLoggedIn) {
    print(output, json, { service: 'google', loggedOut: false }, ['There is no login for Google.'])
    return EXIT.failed
  }
  const revoked = await logoutOfGoogle(file, places.endpoints)
  const told = revoked
    ? 'Google has revoked it.'
    : 'Google could not be told: remove the access at https://myaccount.google.com/connections.'
  print(output, json, { service: 'google', loggedOut: true, revoked }, [`The login was removed. ${told}`])
  return EXIT.ok
}
