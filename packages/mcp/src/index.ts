/** A proxy in front of any MCP server. */

export { serverEnv } from './environment.ts'
export type { CredentialStore, Credentials, Login } from './oauth/credentials.ts'
export { NO_CREDENTIALS } from './oauth/credentials.ts'
export { type LoggedIn, type LoginOptions, logIn, logOut, type OAuthSettings } from './oauth/login.ts'
export { LoginNeeded, type TokenSource, tokenSource } from './oauth/token-source.ts'

import type { HttpServeOptions, ServedOverHttp } from './serve/http.ts'

export { type HttpOptions, httpServer } from './proxy/http.ts'
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
export { type ServedTools, type ServeOptions, serveTools } from './serve/serve.ts'
export type { ToolServerOptions } from './serve/tool-server.ts'

/** Serves tools by Streamable HTTP at a loopback address. Loaded when it is called. @throws Error with the code `EADDRINUSE` if the port is taken */
export const serveToolsHttp = async (options: HttpServeOptions): Promise<ServedOverHttp> =>
  (await import('./serve/http.ts')).serveToolsHttp(options)
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
