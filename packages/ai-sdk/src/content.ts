/** Converts a complete reply into stream parts, and back. */
import type { LanguageModelV4Content, LanguageModelV4StreamPart } from '@ai-sdk/provider'

type Part = LanguageModelV4StreamPart

/** Text and reasoning get their place in the content as id. */
export const partsOf = (content: readonly LanguageModelV4Content[]): readonly Part[] =>
  content.flatMap((one, at): readonly Part[] => {
    if (one.type !== 'text' && one.type !== 'reasoning') return [one]
    const id = `${at}`
    const { providerMetadata } = one
    return [
      { type: `${one.type}-start`, id, ...(providerMetadata && { providerMetadata }) },
      { type: `${one.type}-delta`, id, delta: one.text },
      { type: `${one.type}-end`, id },
    ]
  })

export function contentOf(parts: readonly Part[], original: readonly LanguageModelV4Content[]): LanguageModelV4Content[] {
  const content: LanguageModelV4Content[] = []
  const places = new Map<string, number>()
  for (const part of parts) {
    switch (part.type) {
      case 'text-start':
      case 'reasoning-start': {
        const type = part.type === 'text-start' ? 'text' : 'reasoning'
        const source = original[Number(part.id)]
        const empty: LanguageModelV4Content =
          source?.type === 'text' || source?.type === 'reasoning' ? { ...source, text: '' } : { type, text: '' }
        places.set(part.id, content.push(empty) - 1)
        break
      }
      case 'text-delta':
      case 'reasoning-delta': {
        const at = places.get(part.id) ?? -1
        const grown = content[at]
        if (grown?.type === 'text' || grown?.type === 'reasoning') content[at] = { ...grown, text: grown.text + part.delta }
        break
      }
      case 'tool-call':
      case 'tool-result':
      case 'tool-approval-request':
      case 'custom':
      case 'file':
      case 'reasoning-file':
      case 'source':
        content.push(part)
    }
  }
  return content
}
