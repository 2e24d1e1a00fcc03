/** A proxy in front of any MCP server. */

export { type HttpOptions, httpServer } from './proxy/http.ts'
export { type Journal, openJournal, type UnknownCall } from './proxy/journal.ts'
export { type LineReader, type LongLine, lineReader } from './proxy/lines.ts'
export type { Mend } from './proxy/mend-result.ts'
export type { Id } from './proxy/messages.ts'
export * from './proxy/options.ts'
export { type ProcessOptions, processServer } from './proxy/process.ts'
export { createProxy, type McpProxy } from './proxy/proxy.ts'
export type { OpenServer, ServerConnection, ServerEvents } from './proxy/server.ts'
