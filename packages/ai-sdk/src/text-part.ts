/** Tracks one text part of a reply: it keeps its id, and thinking in it becomes separate parts. */
import type { Reply, Shown } from '@mulligan/repair'
import type { Part, PartOf } from './middleware.ts'

export type TextPart = ReturnType<typeof createTextPart>

export function createTextPart(reply: Reply, start: PartOf<'text-start'>) {
  const { id } = start
  reply.text('', id)
  /** Precedes the first text, so that a part that contains only markup is dropped. */
  const starting: Part[] = [start]
  let isAllShown = true
  /** The text so far, until some of it is shown. */
  let unshown: string | undefined = ''
  /** What the reply has received and not shown yet. */
  let held = ''
  let reasoningId: string | undefined
  let holdsCalls = false

  function delta(part: PartOf<'text-delta'>): readonly Part[] {
    held += part.delta
    const shown = withLead(reply.text(part.delta, id), part.delta)
    held = held.slice(shown.text.length + shown.reasoning.length)
    // Most pieces are shown as they are.
    if (shown.text === part.delta && shown.reasoning === '' && starting.length === 0 && reasoningId === undefined) return [part]
    if (shown.text !== part.delta) isAllShown = false
    const parts = thought(shown)
    if (shown.text === '' && part.delta !== '' && !part.providerMetadata) return parts
    return [...parts, ...started(), shown.text === part.delta ? part : { ...part, delta: shown.text }]
  }

  /** A reply trims white space at the beginning of a text, because text after markup begins with it; other texts keep it. */
  function withLead(shown: Shown, given: string): Shown {
    if (unshown === undefined) return shown
    unshown += given
    if (shown.text === '' && shown.reasoning === '') return shown
    const trimmed = unshown.trimStart()
    const lead = shown.reasoning === '' && trimmed.startsWith(shown.text) ? unshown.slice(0, unshown.length - trimmed.length) : ''
    unshown = undefined
    return { ...shown, text: lead + shown.text }
  }

  /** Returns what the reply still held. There is no part if the stream was cut off. */
  function end(part?: PartOf<'text-end'>): readonly Part[] {
    const rest = reply.endText(id)
    holdsCalls = rest.calls.length > 0
    const shown = withLead(rest, '')
    const blank = rest.calls.length === 0 && unshown?.trim() === '' ? unshown : ''
    const parts = [...thought(shown), ...thoughtEnd()]
    const text = shown.text || blank
    if (text !== '') parts.push(...started(), { type: 'text-delta', id, delta: text })
    else if (isAllShown) parts.push(...started())
    if (part && starting.length === 0) parts.push(part)
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

  const started = (): Part[] => starting.splice(0)

  return {
    delta,
    /** Returns what has to precede a part of another kind. */
    before: () => (isAllShown ? started() : []),
    end,
    /** Whether calls were found in the text, known at its end. */
    holdsCalls: () => holdsCalls,
    /** Returns what is held back, unchanged. */
    rescue: (): Part[] => [...thoughtEnd(), ...started(), { type: 'text-delta', id, delta: held }],
  }
}
