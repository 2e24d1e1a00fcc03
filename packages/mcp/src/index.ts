/** MCP: servers' tools in the engine, its tools in other clients, and a proxy. What needs the protocol's SDK is loaded when it is called. */
import type { CredentialStore } from './oauth/credentials.ts'
import type { LoggedIn, LoginOptions } from './oauth/login.ts'
import type { TokenSource } from './oauth/token-source.ts'
import type { HttpOptions } from './proxy/http.ts'
import type { OpenServer } from './proxy/server.ts'
import type { HttpServeOptions, ServedOverHttp } from './serve/http.ts'
import type { ServedTools, ServeOptions } from './serve/serve.ts'

export { serverEnv } from './environment.ts'
export { type Callback, openCallback } from './oauth/callback.ts'
export type { CredentialStore, Credentials, Login } from './oauth/credentials.ts'
export { NO_CREDENTIALS } from './oauth/credentials.ts'
export { LoginNeeded } from './oauth/errors.ts'
export type { LoggedIn, LoginOptions, OAuthSettings } from './oauth/login.ts'
export type { TokenSource } from './oauth/token-source.ts'
export type { HttpOptions } from './proxy/http.ts'
export { type Journal, openJournal, type UnknownCall } from './proxy/journal.ts'
export { type LineReader, type LongLine, lineReader } from './proxy/lines.ts'
export type { Mend } from './proxy/mend-result.ts'
export type { Id } from './proxy/messages.ts'
export * from './proxy/options.ts'
export { type ProcessOptions, processServer } from './proxy/process.ts'
export { createProxy, type McpProxy } from './proxy/proxy.ts'
export type { OpenServer, ServerConnection, ServerEvents } from './proxy/server.ts'
export { secretsIn, secretsOfHeaders, withoutSecrets } from './secrets.ts'
export type { HttpServeOptions, ServedOverHttp } from './serve/http.ts'
export type { ServedTools, ServeOptions } from './serve/serve.ts'
export type { ToolServerOptions } from './serve/tool-server.ts'
export { expanded, type McpServer, type McpToolSettings } from './use/config.ts'
export type { AskPerson } from './use/elicit.ts'
export type { ListedPrompt, McpPrompt } from './use/prompts.ts'
export { type McpResource, READ_RESOURCE } from './use/resources.ts'
export {
  type Known,
  type McpServerStatus,
  type McpServers,
  type McpServersOptions,
  openMcpServers,
  type PromptMessage,
  type ToolCache,
} from './use/servers.ts'
export type { Offer } from './use/session.ts'
export type { LeftOut, ListedTool } from './use/tools.ts'

/** Logs a person in to a server. @throws Error saying why the person is not logged in, without any secret */
export const logIn = async (options: LoginOptions): Promise<LoggedIn> => (await import('./oauth/login.ts')).logIn(options)

/** Forgets a login, and asks the provider to revoke its tokens. @returns whether there was one */
export const logOut = async (url: string, store: CredentialStore): Promise<boolean> => (await import('./oauth/login.ts')).logOut(url, store)

/** The token of a login, kept fresh. @param name what the person calls the server, for the command to log in */
export const tokenSource = async (name: string, url: string, store: CredentialStore): Promise<TokenSource> =>
  (await import('./oauth/token-source.ts')).tokenSource(name, url, store)

/** A server that is reached by Streamable HTTP, for `createProxy`. */
export const httpServer = async (options: HttpOptions): Promise<OpenServer> => (await import('./proxy/http.ts')).httpServer(options)

/** Serves tools of the engine to an MCP client on stdin and stdout. */
export const serveTools = async (options: ServeOptions): Promise<ServedTools> => (await import('./serve/serve.ts')).serveTools(options)

/** Serves tools by Streamable HTTP at a loopback address. @throws Error with the code `EADDRINUSE` if the port is taken */
export const serveToolsHttp = async (options: HttpServeOptions): Promise<ServedOverHttp> =>
  (await import('./serve/http.ts')).serveToolsHttp(options)
