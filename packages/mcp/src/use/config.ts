/** The configuration of servers, in the shape that other clients use. */
import type { Effect } from '@mulligan/repair'
import type { OAuthSettings } from '../oauth/login.ts'

export interface McpToolSettings {
  /** What a call does. Default: `external`, or what the annotations say if the server's are trusted. */
  readonly effect?: Effect | undefined
  /** Seconds a call may take without progress. */
  readonly timeout?: number | undefined
  /** How often the model may retry after a wrong call. */
  readonly retries?: number | undefined
}

/** A server: a program, or an address. */
export interface McpServer {
  readonly command?: string | undefined
  readonly args?: readonly string[] | undefined
  /** Variables of the program, besides those that every program needs. */
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly cwd?: string | undefined
  /** The address of a server that is reached by Streamable HTTP. */
  readonly url?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The client for `mulligan mcp login`, if the authorization server registers none. */
  readonly oauth?: OAuthSettings | undefined
  readonly disabled?: boolean | undefined
  /** Whether `readOnlyHint` is believed, so that such tools run without asking. Default: false. */
  readonly trustAnnotations?: boolean | undefined
  /** Whether its results are no hostile content, so that effects after them need no person. Default: false. */
  readonly trustResults?: boolean | undefined
  /** Settings of its tools, by the server's name for the tool, with `*`. */
  readonly tools?: Readonly<Record<string, McpToolSettings>> | undefined
}

/**
 * Replaces `${NAME}` and `${NAME:-default}` by variables, as other clients do.
 * @throws Error naming a variable that is not set
 */
export function expanded(server: McpServer, env: Readonly<Record<string, string | undefined>>): McpServer {
  const text = (value: string): string =>
    value.replace(/\$\{(\w+)(?::-([^}]*))?\}/g, (_, name: string, otherwise: string | undefined) => {
      const found = env[name] ?? otherwise
      if (found === undefined) throw new Error(`the variable ${name} is not set`)
      return found
    })
  const all = (values: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, text(value)]))
  const { command, args, env: own, url, headers, oauth } = server
  return {
    ...server,
    ...(command !== undefined && { command: text(command) }),
    ...(args && { args: args.map(text) }),
    ...(own && { env: all(own) }),
    ...(url !== undefined && { url: text(url) }),
    ...(headers && { headers: all(headers) }),
    ...(oauth?.clientSecret !== undefined && { oauth: { ...oauth, clientSecret: text(oauth.clientSecret) } }),
  }
}
