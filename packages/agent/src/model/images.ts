/**
 * Images in a prompt, as the model takes them. Most chat APIs allow them in messages of the user only, so those in results follow in
 * one. A model without images is told by name what it does not see.
 */
import type { LanguageModelV4FilePart, LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { RequestFault } from './fault.ts'
import type { AgentModel } from './model.ts'

/** What an agent knows of its model's images. `refused`: it takes none, by its settings or as its server has said. */
export interface ImageUse {
  refused: boolean
}

type Tool = Extract<LanguageModelV4Message, { role: 'tool' }>
type UserPart = Extract<LanguageModelV4Message, { role: 'user' }>['content'][number]
type Result = Extract<Tool['content'][number], { type: 'tool-result' }>
type ResultPart = Extract<Result['output'], { type: 'content' }>['value'][number]
type TextPart = { readonly type: 'text'; readonly text: string }

/** Providers whose results may have images. */
const IN_RESULTS = /^(?:anthropic|ollama)/

export function withImages(prompt: LanguageModelV4Prompt, model: AgentModel, { refused }: ImageUse): LanguageModelV4Prompt {
  if (!hasImages(prompt)) return prompt
  if (refused) return prompt.map((message) => withoutImages(message, model.id))
  return IN_RESULTS.test(model.model.provider) ? prompt : prompt.flatMap(imagesBeside).reduce(joined, [])
}

/** The messages of a prompt that were found to have no images. */
const checked = new WeakMap<LanguageModelV4Prompt, number>()

/** Looks at each message once, because a prompt only grows at its end; its last message may still grow too. */
export function hasImages(prompt: LanguageModelV4Prompt): boolean {
  const from = Math.max(0, (checked.get(prompt) ?? 0) - 1)
  if (prompt.slice(from).some((message) => imagesIn(message).length > 0)) return true
  checked.set(prompt, prompt.length)
  return false
}

const isImage = (part: { readonly type: string; readonly mediaType?: string }): part is LanguageModelV4FilePart =>
  part.type === 'file' && part.mediaType?.startsWith('image/') === true

function imagesIn(message: LanguageModelV4Message): readonly LanguageModelV4FilePart[] {
  if (message.role === 'user') return message.content.filter(isImage)
  return message.role === 'tool' ? message.content.flatMap((part) => contentOf(part).filter(isImage) as LanguageModelV4FilePart[]) : []
}

const contentOf = (part: Tool['content'][number]): readonly ResultPart[] =>
  part.type === 'tool-result' && part.output.type === 'content' ? part.output.value : []

/** Replaces the images in a result. An output of texts alone is one text. */
function replacedIn(part: Tool['content'][number], replace: (image: LanguageModelV4FilePart) => string): Tool['content'][number] {
  if (part.type !== 'tool-result' || !contentOf(part).some(isImage)) return part
  const value = contentOf(part).map((one): ResultPart => (isImage(one) ? { type: 'text', text: replace(one) } : one))
  if (!value.every((one) => one.type === 'text')) return { ...part, output: { type: 'content', value } }
  return { ...part, output: { type: 'text', value: value.map(({ text }) => text).join('\n') } }
}

function withoutImages(message: LanguageModelV4Message, model: string): LanguageModelV4Message {
  const gone = ({ filename, mediaType }: LanguageModelV4FilePart): string =>
    `[${filename ?? 'An image'} (${mediaType}) is not here: ${model} takes no images. Say so if it matters.]`
  if (message.role === 'user')
    return { ...message, content: message.content.map((part): UserPart => (isImage(part) ? { type: 'text', text: gone(part) } : part)) }
  return message.role === 'tool' ? { ...message, content: message.content.map((part) => replacedIn(part, gone)) } : message
}

/** Moves the images of results into a message of the user after them. */
function imagesBeside(message: LanguageModelV4Message): readonly LanguageModelV4Message[] {
  const images = message.role === 'tool' ? imagesIn(message) : []
  if (message.role !== 'tool' || images.length === 0) return [message]
  const says: TextPart = { type: 'text', text: `[${images.length === 1 ? 'The image' : 'The images'} of these results:]` }
  return [
    { ...message, content: message.content.map((part) => replacedIn(part, () => '[The image is in the next message.]')) },
    { role: 'user', content: [says, ...images] },
  ]
}

/** Merges consecutive messages of the user, since many chat templates require alternating roles. */
function joined(prompt: LanguageModelV4Prompt, message: LanguageModelV4Message): LanguageModelV4Prompt {
  const last = prompt.at(-1)
  if (message.role !== 'user' || last?.role !== 'user') return [...prompt, message]
  return [...prompt.slice(0, -1), { ...last, content: [...last.content, ...message.content] }]
}

const ABOUT_IMAGES = /\bimages?\b|image_url|image input|vision|multi-?modal|modalit|mmproj/i
/** Statuses that are about something else, whatever the message says: the key, the payment, the rate. */
const ELSE: ReadonlySet<number | undefined> = new Set([401, 402, 403, 429])
const TOO_LARGE = 413

/** Whether a server refused a request because of its images. Only meaningful for a request that has some. */
export const refusesImages = ({ status, message }: RequestFault): boolean =>
  status === TOO_LARGE || (!ELSE.has(status) && ABOUT_IMAGES.test(message))
