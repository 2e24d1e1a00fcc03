/** `mulligan mcp login` and `logout`: tokens for MCP servers that are reached by HTTP. */
import { oneLine, UsageError } from '@mulligan/host/light'
import { credentialStore, readSettings } from '@mulligan/host/parts'
import { expanded, logIn, logOut, type OAuthSettings } from '@mulligan/mcp'
import { workingFolder } from '../../paths.ts'
import { EXIT } from '../../process.ts'
import { settled } from '../../trust.ts'
import { browserLogin } from '../../ui/browser-login.ts'
import type { Output } from '../../ui/output.ts'
import { type FolderFlags, print } from '../../ui/text.ts'

export interface LoginFlags extends FolderFlags {
  readonly browser?: boolean
  readonly scope?: string
}

/** @returns 0 if the person is logged in. @throws UsageError */
export async function loginCommand(name: string, { browser = true, scope, ...flags }: LoginFlags, output: Output): Promise<number> {
  const { url, oauth } = await serverCalled(name, flags, output)
  using person = browserLogin(browser, output)
  try {
    const { issuer, ...granted } = await logIn({
      ...{ url, ...oauth, ...(scope !== undefined && { scope }), store: credentialStore(process.env) },
      signal: person.signal,
      open: person.show,
    })
    const rights = granted.scope === undefined ? '' : ` (${granted.scope})`
    print(output, flags.json, { url, issuer, ...granted }, [`Logged in to ${oneLine(name, 80)} by ${oneLine(issuer + rights, 300)}.`])
    return EXIT.ok
  } catch (error) {
    if (person.isInterrupted()) return EXIT.cancelled
    if (error instanceof UsageError) throw error
    const { message, cause } = error as Error
    const why = cause instanceof Error ? `${message} (${cause.message})` : message
    output.err(`mulligan: you are not logged in to ${oneLine(name, 80)}: ${oneLine(why, 600)}\n`)
    return EXIT.failed
  }
}

/** @throws UsageError */
export async function logoutCommand(name: string, flags: FolderFlags, output: Output): Promise<number> {
  const { url } = await serverCalled(name, flags, output)
  const wasThere = await logOut(url, credentialStore(process.env))
  const says = wasThere ? `Logged out of ${oneLine(name, 80)}.` : `You were not logged in to ${oneLine(name, 80)}.`
  print(output, flags.json, { url, loggedOut: wasThere }, [says])
  return EXIT.ok
}

/** A configured server, or one by its address. @throws UsageError */
async function serverCalled(name: string, flags: FolderFlags, output: Output): Promise<{ url: string; oauth?: OAuthSettings | undefined }> {
  if (/^https?:\/\//.test(name) && URL.canParse(name)) return { url: name }
  const cwd = workingFolder(flags.cwd)
  const read = () => ({ settings: readSettings(cwd, {}, process.env) })
  const { settings } = await settled(cwd, read, { tell: output.err, uses: 'tools' })
  const found = settings.mcpServers.find(({ value }) => value.name === name)?.value.server
  const shown = JSON.stringify(oneLine(name, 60))
  if (!found) throw new UsageError(`there is no MCP server ${shown}`, 'mulligan mcp list lists them; you can also give an address.')
  try {
    const { url, oauth } = expanded(found, process.env)
    if (url === undefined || !URL.canParse(url)) throw new Error('it is a program, which logs in by itself')
    return { url, oauth }
  } catch (error) {
    throw new UsageError(`the MCP server ${shown} has no login: ${(error as Error).message}`, 'Logins are for servers with a url.')
  }
}
