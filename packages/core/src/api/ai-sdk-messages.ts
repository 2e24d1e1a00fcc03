/** The AI SDK's messages, for a loop of your own around `generateText` or `streamText`. */
import { isRecord } from '@mulligan/repair'
import type { ContentPart } from '../result.ts'
import type { Api, Finish, Json, ReadPart, SentPart } from './api.ts'
import { chunkCheck, count, fields, objects, otherThan, reported, text, textOf } from './api.ts'

type Options = Record<string, Record<string, never>>
type Output =
  | { type: 'text' | 'error-text'; value: string }
  | {
      type: 'content'
      value: ({ type: 'text'; text: string } | { type: 'file'; mediaType: string; data: { type: 'data'; data: string } })[]
    }

type AssistantPart =
  | { type: 'text'; text: string; providerOptions?: Options }
  | { type: 'tool-call'; toolCallId: string; toolName: string; input: unknown; providerOptions?: Options }

/** A message to append to `messages`. */
export type AiSdkMessage =
  | { role: 'assistant'; content: string | AssistantPart[] }
  | { role: 'tool'; content: { type: 'tool-result'; toolCallId: string; toolName: string; output: Output }[] }
  | { role: 'user'; content: string }

/** A Standard Schema that accepts every input: the SDK must not refuse what can be repaired. */
interface UncheckedSchema {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => { readonly value: never }
    readonly jsonSchema: { readonly input: () => Record<string, unknown>; readonly output: () => Record<string, unknown> }
  }
}

export interface AiSdkRequest {
  tools?: Record<string, { description: string; inputSchema: UncheckedSchema }>
}

/** The result of `generateText`. */
export interface AiSdkReply {
  readonly content: readonly object[]
  readonly finishReason: string
  readonly usage: object
}
/** A part of the `fullStream` of `streamText`. */
export interface AiSdkPart {
  readonly type: string
}

const FINISH: Readonly<Record<string, Finish>> = { length: 'cut', error: 'cut', unfinished: 'cut', 'content-filter': 'filtered' }

/** The format of `generateText` and `streamText`, which make one request each: the tools have no `execute`. */
export const aiSdkMessages: Api<AiSdkReply, AiSdkPart, AiSdkMessage, AiSdkRequest> = {
  // The SDK throws if the model calls a tool in spite of `toolChoice: 'none'`, so the last request relies on the instruction.
  request: (tools) => ({
    tools: Object.fromEntries(
      tools.map(({ name, description, inputSchema }) => [name, { description, inputSchema: schemaOf(inputSchema) }]),
    ),
  }),
  read: (reply) => {
    if (!isRecord(reply) || !Array.isArray(reply['content']) || !('finishReason' in reply))
      throw otherThan('a result of generateText, or the fullStream of streamText', reply)
    const { content, finishReason, usage } = reply as Json
    const parts = objects(content).flatMap(partOf)
    return {
      parts,
      finish: FINISH[text(finishReason)] ?? 'stop',
      tokens: count(fields(usage)['totalTokens']),
      signed: parts.some(({ type, raw }) => (type === 'call' || type === 'reasoning') && raw['providerMetadata'] !== undefined),
    }
  },
  stream,
  write: (sent) => {
    const calls = sent.filter((part) => part.type === 'call')
    if (sent.length === 0) return []
    const results = calls.map(({ id, name, result, isError }) => ({
      type: 'tool-result' as const,
      toolCallId: id,
      toolName: name,
      output: outputOf(result, isError),
    }))
    const reply: AiSdkMessage = { role: 'assistant', content: sent.map(contentOf) }
    return results.length === 0 ? [reply] : [reply, { role: 'tool', content: results }]
  },
  say: (role, content) => ({ role, content }),
}

const schemaOf = (jsonSchema: Json): UncheckedSchema => {
  const input = (): Record<string, unknown> => ({ ...jsonSchema })
  const validate = (value: unknown) => ({ value: value as never })
  return { '~standard': { version: 1, vendor: 'mulligan', validate, jsonSchema: { input, output: input } } }
}

function partOf(raw: Json): ReadPart[] {
  const { type, providerExecuted } = raw
  if (type === 'text' || type === 'reasoning') return [{ type, text: text(raw['text']), raw }]
  if (type === 'tool-call' && !providerExecuted)
    return [{ type: 'call', id: text(raw['toolCallId']), name: text(raw['toolName']), input: raw['input'], raw }]
  // The SDK's own errors about calls that it could not read, and sources, are not sent back.
  const isSent = type === 'file' || type === 'reasoning-file' || type === 'custom' || (/^tool-/.test(text(type)) && providerExecuted)
  return isSent ? [{ type: 'other', raw }] : []
}

/** Converts a part of a reply to a part of a message. */
function contentOf(part: SentPart): AssistantPart {
  const { providerMetadata, ...raw } = part.raw ?? {}
  const options = providerMetadata === undefined ? {} : { providerOptions: providerMetadata as Options }
  if (part.type === 'call') return { type: 'tool-call', toolCallId: part.id, toolName: part.name, input: part.input, ...options }
  if (part.type === 'text') return { type: 'text', text: part.text, ...options }
  const { file, output, error, ...rest } = raw
  const { base64: data, mediaType } = fields(file)
  const result = { type: 'tool-result', output: { type: 'json', value: output ?? String(error) } }
  const isResult = raw['type'] === 'tool-result' || raw['type'] === 'tool-error'
  return { ...rest, ...(isRecord(file) && { data, mediaType }), ...(isResult && result), ...options } as unknown as AssistantPart
}

function outputOf(result: readonly ContentPart[], isError: boolean): Output {
  if (isError || result.every(({ type }) => type === 'text')) return { type: isError ? 'error-text' : 'text', value: textOf(result) }
  return {
    type: 'content',
    value: result.map((part) =>
      part.type === 'text' ? part : { type: 'file', mediaType: part.mediaType, data: { type: 'data', data: part.data } },
    ),
  }
}

function stream() {
  const content: { -readonly [key in keyof Json]: Json[key] }[] = []
  const places = new Map<string, number>()
  let finish: Json = { finishReason: 'unfinished' }
  const check = chunkCheck('the stream of streamText')
  return {
    push: (part: AiSdkPart) => {
      const { type, id, text: delta, error, ...rest } = fields(part)
      check.see(part, /^(?:start|finish|text-|reasoning-|tool-|error|abort|raw|source|file)/.test(text(type)))
      if (type === 'error') throw reported(error)
      if (type === 'finish') finish = rest
      const [, kind, what] = /^(text|reasoning)-(start|delta|end)$/.exec(text(type)) ?? []
      if (kind === undefined) {
        if (partOf(part as unknown as Json).length > 0) content.push({ ...part })
        return undefined
      }
      const key = `${kind} ${id}`
      if (what === 'start') places.set(key, content.push({ type: kind, text: '' }) - 1)
      const at = places.get(key) ?? -1
      const growing = content[at]
      if (!growing) return undefined
      if (rest['providerMetadata'] !== undefined) growing['providerMetadata'] = rest['providerMetadata']
      growing['text'] = text(growing['text']) + text(delta)
      return kind === 'text' && delta !== undefined ? { part: at, text: text(delta) } : undefined
    },
    end: () => {
      check.end()
      return { content, finishReason: text(finish['finishReason']), usage: fields(finish['totalUsage']) }
    },
  }
}
