/** Turns what a server returns into results of the contract. Pure. */
import { ModelRetry, ok, ToolFailure, type ToolOk } from '@mulligan/core'
import { isRecord } from '@mulligan/repair'
import { mendResult } from '../proxy/mend-result.ts'
import type { CallResult } from '../proxy/messages.ts'

type ContentPart = Exclude<NonNullable<ToolOk['content']>, string>[number]

/** How servers built with the official libraries report arguments that don't fit. */
const WRONG_ARGUMENTS = /^MCP error -32602:? /

/** @throws ModelRetry, ToolFailure for a result that is an error */
export function resultOf(given: CallResult, hasArguments: boolean): ToolOk {
  const { result } = mendResult(given, { hasArguments, notes: [] })
  const content = Array.isArray(result.content) ? result.content.flatMap(partsOf) : []
  const data = result.structuredContent
  const parts = content.length > 0 || data === undefined ? joined(content) : [textPart(JSON.stringify(data))]
  if (result.isError === true) {
    const says = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
    if (WRONG_ARGUMENTS.test(says)) throw new ModelRetry(says.replace(WRONG_ARGUMENTS, ''))
    throw new ToolFailure(says === '' ? 'The tool failed and gave no reason.' : says)
  }
  const [only, ...others] = parts
  const isText = only?.type === 'text' && others.length === 0
  return ok(data ?? (isText ? only.text : parts), { content: isText ? only.text : parts })
}

/** Content as a text; images and the like are named. */
export const contentText = (content: readonly unknown[]): string =>
  content
    .flatMap(partsOf)
    .map((part) => (part.type === 'text' ? part.text : `[${part.mediaType}]`))
    .join('\n')

const textPart = (text: string): ContentPart => ({ type: 'text', text })

function partsOf(item: unknown): ContentPart[] {
  if (!isRecord(item)) return []
  const { type, text, data, mimeType, resource, uri, name } = item
  if (type === 'text' && typeof text === 'string') return [textPart(text)]
  if ((type === 'image' || type === 'audio') && typeof data === 'string') return [mediaPart(data, mimeType)]
  if (type === 'resource_link') return [textPart(`${String(name ?? 'resource')}: ${String(uri)}`)]
  if (type !== 'resource' || !isRecord(resource)) return [textPart(JSON.stringify(item))]
  if (typeof resource['text'] === 'string') return [textPart(`${String(resource['uri'])}:\n${resource['text']}`)]
  if (typeof resource['blob'] === 'string') return [mediaPart(resource['blob'], resource['mimeType'])]
  return []
}

/** How the images that models take begin in base64. */
const IMAGES = { 'image/png': 'iVBORw0KGgo', 'image/jpeg': '/9j/', 'image/gif': 'R0lGOD', 'image/webp': 'UklGR' }
/** Characters of base64: 3.5 MB. Providers refuse larger ones. */
const MAX_IMAGE = 4_900_000

/** An image, or what is there instead of one: a provider refuses a request with anything else, and so each request that follows. */
function mediaPart(data: string, mimeType: unknown): ContentPart {
  const mediaType = Object.entries(IMAGES).find(([, beginning]) => data.startsWith(beginning))?.[0]
  const isWhole = data.length % 4 === 0 && data.length <= MAX_IMAGE && /^[A-Za-z0-9+/]+={0,2}$/.test(data)
  if (mediaType !== undefined && isWhole) return { type: 'media', mediaType, data }
  const type = typeof mimeType === 'string' && /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/.test(mimeType) ? mimeType : 'application/octet-stream'
  return textPart(`[${type}, ${Math.ceil((data.length * 3) / 4).toLocaleString('en')} bytes: not an image that can be shown]`)
}

/** Joins texts that follow each other. */
function joined(parts: readonly ContentPart[]): readonly ContentPart[] {
  const out: ContentPart[] = []
  for (const part of parts) {
    const last = out.at(-1)
    if (part.type === 'text' && last?.type === 'text') out[out.length - 1] = textPart(`${last.text}\n${part.text}`)
    else out.push(part)
  }
  return out.length > 0 ? out : [textPart('')]
}
