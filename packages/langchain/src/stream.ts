/** A chat model whose streamed text is repaired before LangChain's callbacks see it. */
import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager'
import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessageChunk, type BaseMessage } from '@langchain/core/messages'
import { ChatGenerationChunk } from '@langchain/core/outputs'
import type { FrameworkReply } from '@mulligan/core/adapter'
import { mapText } from './messages.ts'

type Stream = BaseChatModel['_streamResponseChunks']

export interface StreamedReply {
  readonly reply: FrameworkReply
  /** The model streamed, so the text of its message is repaired already. */
  isStreamed: boolean
}

/** The model, or a binding of it, with repaired chunks. Models that don't stream are returned unchanged. */
export function streamRepaired<Model extends object>(model: Model, streamed: StreamedReply): Model {
  if ('bound' in model && typeof model.bound === 'object' && model.bound !== null)
    return Object.create(model, { bound: { value: streamRepaired(model.bound, streamed), enumerable: true } }) as Model
  if ('_getModelInstance' in model) return configurable(model as unknown as Configurable, streamed) as unknown as Model
  if (!isChatModel(model) || model._streamResponseChunks === BaseChatModel.prototype._streamResponseChunks) return model
  const repaired = Object.create(model) as BaseChatModel
  const bindTools = model.bindTools?.bind(model)
  if (bindTools) repaired.bindTools = (...given) => streamRepaired(bindTools(...given), streamed)
  repaired._streamResponseChunks = (messages, options, runManager) => chunks(model, streamed, messages, options, runManager)
  // Providers' own events would bypass the chunks.
  repaired._streamChatModelEvents = BaseChatModel.prototype._streamChatModelEvents
  return repaired as unknown as Model
}

type Configurable = Pick<BaseChatModel, 'bindTools'> & { readonly _getModelInstance: (...given: unknown[]) => Promise<object> }

/** A model that is given by name is made when it is used. */
function configurable(model: Configurable, streamed: StreamedReply): Configurable {
  const bindTools = model.bindTools?.bind(model)
  return Object.assign(Object.create(model) as Configurable, {
    _getModelInstance: async (...given: unknown[]) => streamRepaired(await model._getModelInstance(...given), streamed),
    ...(bindTools && { bindTools: (...given: Parameters<typeof bindTools>) => streamRepaired(bindTools(...given), streamed) }),
  })
}

const isChatModel = (model: object): model is BaseChatModel => '_streamResponseChunks' in model

async function* chunks(
  model: BaseChatModel,
  streamed: StreamedReply,
  messages: BaseMessage[],
  options: Parameters<Stream>[1],
  runManager: CallbackManagerForLLMRun | undefined,
): AsyncGenerator<ChatGenerationChunk> {
  const { reply } = streamed
  if (streamed.isStreamed) reply.restart()
  streamed.isStreamed = true
  async function* repaired(): AsyncGenerator<ChatGenerationChunk> {
    // Without the callbacks, which would be given the text as it came.
    for await (const chunk of model._streamResponseChunks(messages, options)) yield withShown(chunk, reply)
    const rest = reply.endText()
    if (rest.text !== '' || rest.reasoning !== '') yield chunkOf(rest)
  }
  for await (const chunk of repaired()) {
    yield chunk
    await runManager?.handleLLMNewToken(chunk.text, undefined, undefined, undefined, undefined, { chunk })
  }
}

function withShown(chunk: ChatGenerationChunk, reply: FrameworkReply): ChatGenerationChunk {
  const { message } = chunk
  if (!AIMessageChunk.isInstance(message)) return chunk
  const { reasoning_content: given } = message.additional_kwargs
  if (typeof given === 'string') reply.reasoning(given)
  let reasoning = ''
  let text = ''
  let isSame = true
  const content = mapText(message.content, (delta) => {
    const shown = reply.text(delta)
    reasoning += shown.reasoning
    text += shown.text
    isSame &&= shown.text === delta
    return shown.text
  })
  if (isSame) return chunk
  const { tool_call_chunks = [], response_metadata, usage_metadata, id, name } = message
  const own = new AIMessageChunk({
    content,
    additional_kwargs: { ...message.additional_kwargs, ...reasoningOf(reasoning) },
    response_metadata,
    tool_call_chunks,
    usage_metadata,
    ...(id !== undefined && { id }),
    ...(name !== undefined && { name }),
  } as ConstructorParameters<typeof AIMessageChunk>[0])
  return new ChatGenerationChunk({ message: own, text, ...(chunk.generationInfo && { generationInfo: chunk.generationInfo }) })
}

const chunkOf = ({ text, reasoning }: { readonly text: string; readonly reasoning: string }): ChatGenerationChunk =>
  new ChatGenerationChunk({ text, message: new AIMessageChunk({ content: text, additional_kwargs: reasoningOf(reasoning) }) })

/** Thinking in the text goes where LangChain's providers put it. */
export const reasoningOf = (reasoning: string): { readonly reasoning_content?: string } =>
  reasoning === '' ? {} : { reasoning_content: reasoning }
