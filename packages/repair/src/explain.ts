/** What was seen in a reply, place by place, and what became of it: for a person who asks why a call did or did not run. */
import type { Family } from './envelope/family.ts'
import { indexTools, sourceOf } from './envelope/source.ts'
import { indexNames } from './name.ts'
import { isCut, type ParseOptions, readOne } from './parse-with.ts'
import { createReply } from './reply.ts'
import type { ToolSpec } from './tool-spec.ts'

export interface Seen {
  /** Offset in characters, and line, both of the reply as given; -1 and 0 where it does not stand there word for word. */
  readonly at: number
  readonly line: number
  /** The family that read it, or whose markup it begins with; empty for a form of none. */
  readonly form: string
  readonly raw: string
  readonly outcome: 'run' | 'refused' | 'not run'
  /** The call as it is run, or the name as it was written. */
  readonly call?: { readonly name: string; readonly arguments?: Record<string, unknown> }
  /** Why it was run, refused or not run. */
  readonly why: string
}

export interface Explanation {
  /** In the order of the reply. */
  readonly seen: readonly Seen[]
  /** No call came out of it, and one may have been meant: in a turn the model is asked once. */
  readonly unclear: boolean
}

/** @throws TypeError when two tools have the same name */
export function explainWith(
  families: readonly Family[],
  text: string,
  tools: readonly ToolSpec[],
  options: ParseOptions = {},
): Explanation {
  const { finishReason, ...more } = options
  const reply = createReply(tools, { families, ...more })
  reply.text(text)
  const { calls, quoted, unclear } = reply.end([], { cutShort: isCut(finishReason) })
  const names = indexNames(tools)
  const source = sourceOf(text, indexTools(tools))
  /** Where each text was found last: the same markup may come twice. */
  const found = new Map<string, number>()

  function placed(raw: string): Pick<Seen, 'at' | 'line' | 'raw'> {
    const known = raw.replace(/…$/, '')
    const last = found.get(known) ?? -1
    const next = text.indexOf(known, last + 1)
    // Several calls may stand in one text.
    const at = next === -1 ? last : next
    if (at !== -1) found.set(known, at)
    return { at, line: at === -1 ? 0 : text.slice(0, at).split('\n').length, raw }
  }

  const formAt = (at: number): string =>
    families.find((family) => family.openers.some((opener) => text.startsWith(opener, at)) && family.read(source, at))?.id ?? ''

  const ran = calls.map((call): Seen => {
    const envelope = call.repairs.find(({ kind }) => kind === 'envelope')
    const place = placed(String(envelope?.from ?? ''))
    const form = /as (\S+) does/.exec(envelope?.why ?? '')?.[1] ?? formAt(place.at)
    const read = readOne(call, names)
    if ('error' in read) return { ...place, form, outcome: 'refused', call: { name: read.name }, why: `${read.errorType}: ${read.error}` }
    const repairs = read.repairs.filter(({ kind }) => kind !== 'dropped').map(({ kind, why }) => `${kind}: ${why}`)
    return { ...place, form, outcome: 'run', call: { name: read.name, arguments: read.arguments }, why: repairs.join('; ') }
  })
  const left = quoted.map(({ raw, why, open }): Seen => {
    const place = placed(raw)
    const asks = open ? (calls.length === 0 ? '; the model is asked' : '; the model is told') : ''
    return { ...place, form: place.at === -1 ? '' : formAt(place.at), outcome: 'not run', why: why + asks }
  })
  return { seen: [...ran, ...left].sort((a, b) => a.at - b.at), unclear }
}
