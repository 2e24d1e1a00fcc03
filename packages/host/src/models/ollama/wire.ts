/** The parts of Ollama's API types that are used. Every field is optional, because servers and imitations differ. */
import { isObject } from '../../common/is-object.ts'

export type Json = { readonly [key: string]: unknown }

export interface OllamaCall {
  readonly id?: string
  readonly function: { readonly name: string; readonly arguments: Json }
}

export interface OllamaMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly content: string
  readonly thinking?: string
  /** Base64. */
  readonly images?: readonly string[]
  readonly tool_calls?: readonly OllamaCall[]
  readonly tool_name?: string
  readonly tool_call_id?: string
}

export interface ChatBody {
  readonly model: string
  readonly messages: readonly OllamaMessage[]
  readonly stream: boolean
  readonly tools?: readonly Json[]
  readonly think?: boolean | string
  readonly format?: 'json' | Json
  /** Rejects a prompt that is too long instead of truncating it. Servers before 0.12.6 ignore this and truncate. */
  readonly truncate: false
  /** The same for a reply that outgrows the context: it ends there. */
  readonly shift: false
  readonly options: { readonly num_ctx: number } & Json
}

export const asObject = (value: unknown): Json => (isObject(value) ? value : {})
export const asArray = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
export const asText = (value: unknown): string => (typeof value === 'string' ? value : '')
/** Parses a whole number of tokens; returns `undefined` for anything else. */
export const asCount = (value: unknown): number | undefined => (typeof value === 'number' && value >= 0 ? Math.floor(value) : undefined)
