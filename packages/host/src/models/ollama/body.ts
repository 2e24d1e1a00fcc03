/** Converts a model request to the body of `POST /api/chat`. */
import type { LanguageModelV4CallOptions, LanguageModelV4Message, LanguageModelV4ToolResultOutput } from '@ai-sdk/provider'
import { isObject } from '../../common/is-object.ts'
import type { ChatBody, Json, OllamaCall, OllamaMessage } from './wire.ts'

export interface Thinking {
  /** Whether a plain `true` turns thinking on. Otherwise, servers that do not know the levels would leave the thinking in the text. */
  readonly onTrue: boolean
  /** Names of levels, such as `low`. */
  readonly levels: readonly string[]
}

export interface BodySettings {
  readonly model: string
  /** In tokens. The same in every request, because a change makes the server reload the model. */
  readonly numCtx: number
  /** Only for a model that thinks: for others the option is an error. */
  readonly thinking?: Thinking
  /** A sampling option that a model request has no field for. */
  readonly minP?: number
}

export function chatBody(options: LanguageModelV4CallOptions, settings: BodySettings, stream: boolean): ChatBody {
  const { prompt, tools = [], responseFormat } = options
  const functions = tools.filter((tool) => tool.type === 'function')
  const think = thinkOf(options.reasoning, settings.thinking)
  return {
    model: settings.model,
    messages: prompt.flatMap(toMessages),
    stream,
    // There is no tool choice: tools that must not be called stay in the request, so that the server's prefix cache stays valid.
    ...(functions.length > 0 && {
      tools: functions.map(({ name, description, inputSchema }) => ({
        type: 'function',
        function: { name, ...(description !== undefined && { description }), parameters: inputSchema },
      })),
    }),
    ...(think !== undefined && { think }),
    ...(responseFormat?.type === 'json' && { format: isObject(responseFormat.schema) ? responseFormat.schema : ('json' as const) }),
    truncate: false,
    shift: false,
    options: { num_ctx: settings.numCtx, ...sampling(options, settings.minP) },
  }
}

function sampling(options: LanguageModelV4CallOptions, minP: number | undefined): Json {
  const given = {
    num_predict: options.maxOutputTokens,
    temperature: options.temperature,
    top_p: options.topP,
    top_k: options.topK,
    min_p: minP,
    presence_penalty: options.presencePenalty,
    frequency_penalty: options.frequencyPenalty,
    seed: options.seed,
    stop: options.stopSequences,
  }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

function thinkOf(asked: LanguageModelV4CallOptions['reasoning'], thinking: Thinking | undefined): boolean | string | undefined {
  if (!thinking) return undefined
  if (asked === 'none') return false
  const level = asked === 'minimal' ? 'low' : asked === 'xhigh' || asked === 'max' ? 'high' : asked
  return level !== undefined && thinking.levels.includes(level) ? level : thinking.onTrue ? true : undefined
}

function toMessages(message: LanguageModelV4Message): OllamaMessage[] {
  switch (message.role) {
    case 'system':
      return [{ role: 'system', content: message.content }]
    case 'user':
      return [{ role: 'user', content: textOf(message.content), ...imagesOf(message.content) }]
    case 'assistant':
      return [assistant(message.content)]
    case 'tool':
      return message.content.flatMap((part) =>
        part.type === 'tool-result'
          ? [{ role: 'tool' as const, tool_name: part.toolName, tool_call_id: part.toolCallId, ...resultOf(part.output) }]
          : [],
      )
  }
}

type Parts<Role> = Extract<LanguageModelV4Message, { role: Role }>['content']

function assistant(content: Parts<'assistant'>): OllamaMessage {
  const thinking = content.flatMap((part) => (part.type === 'reasoning' ? [part.text] : [])).join('')
  const calls = content.flatMap((part): OllamaCall[] =>
    part.type === 'tool-call'
      ? [{ id: part.toolCallId, function: { name: part.toolName, arguments: isObject(part.input) ? part.input : {} } }]
      : [],
  )
  return {
    role: 'assistant',
    content: textOf(content),
    ...(thinking !== '' && { thinking }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
}

type AnyPart = { readonly type: string; readonly text?: string; readonly mediaType?: string; readonly data?: unknown }

const textOf = (parts: readonly AnyPart[]): string =>
  parts.flatMap((part) => (part.type === 'text' && part.text !== undefined ? [part.text] : fileText(part))).join('\n\n')

const fileText = ({ type, data }: AnyPart): string[] =>
  type === 'file' && isObject(data) && data['type'] === 'text' && typeof data['text'] === 'string' ? [data['text']] : []

/** Returns the images whose data is in the message: Ollama does not fetch any. */
function imagesOf(parts: readonly AnyPart[]): { images?: readonly string[] } {
  const images = parts.flatMap(({ type, mediaType = '', data }) => {
    if (type !== 'file' || !mediaType.startsWith('image') || !isObject(data) || data['type'] !== 'data') return []
    const { data: bytes } = data
    return [typeof bytes === 'string' ? bytes : Buffer.from(bytes as Uint8Array).toString('base64')]
  })
  return images.length > 0 ? { images } : {}
}

function resultOf(output: LanguageModelV4ToolResultOutput): Pick<OllamaMessage, 'content' | 'images'> {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return { content: output.value }
    case 'json':
    case 'error-json':
      return { content: JSON.stringify(output.value) }
    case 'execution-denied':
      return { content: output.reason ?? 'denied' }
    case 'content':
      return { content: textOf(output.value), ...imagesOf(output.value) }
  }
}
