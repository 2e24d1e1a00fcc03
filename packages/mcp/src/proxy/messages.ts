/** JSON-RPC messages, as MCP sends them. Only what the proxy reads is typed; everything else passes through. */
import { isRecord } from '@mulligan/repair'

export type Id = string | number
export type Params = Readonly<Record<string, unknown>>

export interface Request {
  readonly jsonrpc: '2.0'
  readonly id: Id
  readonly method: string
  readonly params?: Params
}

export type Message =
  | { readonly kind: 'request'; readonly id: Id; readonly method: string; readonly params: Params }
  | { readonly kind: 'notification'; readonly method: string; readonly params: Params }
  | { readonly kind: 'response'; readonly id: Id; readonly result?: unknown; readonly error?: unknown }
  | { readonly kind: 'invalid' }

/** The part of a result of `tools/call` that the proxy reads. */
export interface CallResult extends Record<string, unknown> {
  readonly content?: unknown
  readonly structuredContent?: unknown
  readonly isError?: unknown
}

export interface TextItem extends Record<string, unknown> {
  readonly type: 'text'
  readonly text: string
}

export const CODES = {
  ...{ parse: -32700, invalidRequest: -32600, methodNotFound: -32601, invalidParams: -32602, internal: -32603, timeout: -32001 },
  noResource: -32002,
} as const

const isId = (value: unknown): value is Id => typeof value === 'string' || typeof value === 'number'

/** Sorts a parsed value. */
export function messageOf(value: unknown): Message {
  if (!isRecord(value)) return { kind: 'invalid' }
  const { id, method, params = {} } = value
  if (typeof method === 'string') {
    if (!isRecord(params)) return { kind: 'invalid' }
    if (id === undefined) return { kind: 'notification', method, params }
    return isId(id) ? { kind: 'request', id, method, params } : { kind: 'invalid' }
  }
  if (!isId(id) || !('result' in value || 'error' in value)) return { kind: 'invalid' }
  return { kind: 'response', id, result: value['result'], error: value['error'] }
}

export const text = (value: string): TextItem => ({ type: 'text', text: value })
export const isText = (item: unknown): item is TextItem => isRecord(item) && item['type'] === 'text' && typeof item['text'] === 'string'

export const result = (id: Id, value: unknown): string => JSON.stringify({ jsonrpc: '2.0', id, result: value })
export const failure = (id: Id | null, code: number, message: string): string =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } })
export const request = (id: Id, method: string, params: Params): string => JSON.stringify({ jsonrpc: '2.0', id, method, params })
export const notification = (method: string, params?: Params): string =>
  JSON.stringify({ jsonrpc: '2.0', method, ...(params && { params }) })

/** The result of a call that failed, as the model reads it. From protocol version 2026-07-28 on, a result names its type. */
export const errorResult = (says: string): CallResult => ({ resultType: 'complete', content: [text(says)], isError: true })

/** Ids of different types are different ids. */
export const idKey = (id: Id): string => `${typeof id} ${id}`
