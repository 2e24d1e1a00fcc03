/** Tracks one text part of a reply: it keeps its id, and thinking in it becomes separate parts. */
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { Reply, Shown } from '@mulligan/repair'

type Part = LanguageModelV4StreamPart
type Of<Type extends Part['type']> = Extract<Part, { type: Type }>

export interface TextPart {
  readonly delta: (part: Of<'text-delta'>) => readonly Part[]
  /** A part of another kind comes: what has to go before it. */
  readonly before: () => readonly Part[]
  /** What the reply still held. Without a part the stream ended in the middle. */
  readonly end: (part?: Of<'text-end'>) => readonly Part[]
  /** What waits here, as it came. */
  readonly rescue: () => readonly Part[]
}

export function createTextPart(reply: Reply, start: Of<'text-start'>): TextPart {
  const { id } = start
  reply.text('', id)
  /** Continues the first text: a part that holds nothing but markup is dropped. */
  let starting: Of<'text-start'> | undefined = start
  let isAllShown = true
  /** All of it, until some is shown. */
  let unshown: string | undefined = ''
  /** What the reply was given and has not shown. */
  let held = ''
  let reasoningId: string | undefined

  function delta(part: Of<'text-delta'>): readonly Part[] {
    held += part.delta
    const shown = withLead(reply.text(part.delta, id), part.delta)
    held = held.slice(shown.text.length + shown.reasoning.length)
    if (shown.text !== part.delta) isAllShown = false
    const parts = thought(shown)
    if (shown.text === '' && part.delta !== '' && !part.providerMetadata) return parts
    return [...parts, ...started(), shown.text === part.delta ? part : { ...part, delta: shown.text }]
  }

  /** A reply takes white space off the beginning of a text, as what follows markup begins with it; other texts keep theirs. */
  function withLead(shown: Shown, given: string): Shown {
    if (unshown === undefined) return shown
    unshown += given
    if (shown.text === '' && shown.reasoning === '') return shown
    const trimmed = unshown.trimStart()
    const lead = shown.reasoning === '' && trimmed.startsWith(shown.text) ? unshown.slice(0, unshown.length - trimmed.length) : ''
    unshown = undefined
    return { ...shown, text: lead + shown.text }
  }

  function end(part?: Of<'text-end'>): readonly Part[] {
    const rest = reply.endText(id)
    const shown = withLead(rest, '')
    const blank = rest.calls.length === 0 && unshown?.trim() === '' ? unshown : ''
    const parts = [...thought(shown), ...thoughtEnd()]
    const text = shown.text || blank
    if (text !== '') parts.push(...started(), { type: 'text-delta', id, delta: text })
    else if (isAllShown) parts.push(...started())
    if (part && !starting) parts.push(part)
    return parts
  }

  function thought({ reasoning, text }: Shown): Part[] {
    const parts: Part[] = []
    if (reasoning !== '') {
      if (reasoningId === undefined) {
        reasoningId = `reasoning_${crypto.randomUUID()}`
        parts.push({ type: 'reasoning-start', id: reasoningId })
      }
      parts.push({ type: 'reasoning-delta', id: reasoningId, delta: reasoning })
    }
    return text === '' ? parts : [...parts, ...thoughtEnd()]
  }

  function thoughtEnd(): Part[] {
    const parts: Part[] = reasoningId === undefined ? [] : [{ type: 'reasoning-end', id: reasoningId }]
    reasoningId = undefined
    return parts
  }

  function started(): Part[] {
    const parts = starting ? [starting] : []
    starting = undefined
    return parts
  }

  const rescue = (): Part[] => [...thoughtEnd(), ...started(), { type: 'text-delta', id, delta: held }]

  return { delta, before: () => (isAllShown ? started() : []), end, rescue }
}
