/** Collects the facts at a point of a session from its call records: open denials, indeterminate calls, changes, failures. */
import { type CallRecord, canonical, render } from '@mulligan/core'

export interface SessionFacts {
  readonly add: (record: CallRecord) => void
  /** A turn has ended: what was closed for it is open again. */
  readonly nextTurn: () => void
  /** May or may not have taken effect. */
  readonly unknown: () => readonly Refusal[]
  /** A person or policy said no, or nobody could be asked. */
  readonly denied: () => readonly Refusal[]
  readonly closed: () => readonly string[]
  readonly failed: () => readonly string[]
  /** What was changed, the latest last; `times` is how often. */
  readonly changed: () => readonly Counted[]
  readonly calls: () => readonly Tally[]
  /** The latest list of a tool that keeps one. */
  readonly lists: () => readonly { readonly tool: string; readonly text: string }[]
  /** Where whole outputs are. */
  readonly spills: () => readonly string[]
}

/** What was said, and of which calls. */
export interface Refusal {
  readonly calls: readonly string[]
  readonly says: string
}

interface Open {
  readonly about: string
  readonly says: string
}

interface Unknown extends Open {
  readonly tool: string
  readonly target: string
}

export interface Counted {
  readonly what: string
  readonly times: number
}

export interface Tally {
  readonly tool: string
  readonly times: number
  readonly targets: readonly Counted[]
}

/** The engine's refusals are not failures of the work. */
const NOT_FAILED = new Set(['cancelled', 'blocked', 'closed', 'denied', 'indeterminate'])
const MAX_TARGETS = 200
const MAX_SPILLS = 12
const MAX_WORDS = 300

/** @param keepsLatest of a tool: each result has the whole list, so only the latest counts */
export function createFacts(keepsLatest: (tool: string) => boolean): SessionFacts {
  const unknown = new Map<string, Unknown>()
  const denied = new Map<string, Open>()
  const closed = new Map<string, 'turn' | 'other_success'>()
  const failed = new Map<string, { readonly tool: string; readonly says: string; readonly slip: boolean }>()
  const changed = new Map<string, number>()
  const calls = new Map<string, { times: number; readonly targets: Map<string, number> }>()
  const lists = new Map<string, string>()
  const spills = new Map<string, string>()

  function add(record: CallRecord): void {
    const { tool, target, effect, input, result } = record
    const about = aboutOf(record)
    const key = `${tool} ${canonical(input)}`
    tally(tool, target)
    if (result.truncated?.spill !== undefined) keep(spills, result.truncated.spill, about, MAX_SPILLS)
    if (result.ok) {
      if (effect !== 'read') settle(key, record)
      failed.delete(`${tool} ${target}`)
      for (const [one, { tool: of, slip }] of failed) if (slip && of === tool) failed.delete(one)
      for (const [one, { about: of }] of denied) if (of === about) denied.delete(one)
      for (const [one, until] of closed) if (until === 'other_success' && one !== tool) closed.delete(one)
      if (effect !== 'read') keep(changed, about, (changed.get(about) ?? 0) + 1)
      if (keepsLatest(tool)) lists.set(tool, render(result))
      return
    }
    const { status, error, details } = result
    const says = clip(error)
    if (status === 'indeterminate') keep(unknown, key, { about, says, tool, target })
    else if (status === 'denied') keep(denied, `${about} ${says}`, { about, says })
    else if (status === 'closed' || details?.triesLeft === 0) closed.set(tool, effect === 'external' ? 'turn' : 'other_success')
    if (NOT_FAILED.has(status)) return
    const slip = status === 'retry'
    if (!slip || (effect !== 'read' && result.errorType !== 'unknown_tool'))
      keep(failed, `${tool} ${target}`, { tool, says: `${about}: ${says}`, slip })
  }

  /** The executor runs another call on the same target only when a person who knows of the first has approved it. */
  function settle(key: string, { tool, target }: CallRecord): void {
    for (const [one, open] of unknown)
      if (one === key || (target !== '' && open.tool === tool && open.target === target)) unknown.delete(one)
  }

  function tally(tool: string, target: string): void {
    const of = calls.get(tool) ?? { times: 0, targets: new Map<string, number>() }
    calls.set(tool, of)
    of.times++
    if (target !== '') keep(of.targets, clip(target, 80), (of.targets.get(clip(target, 80)) ?? 0) + 1, MAX_TARGETS)
  }

  return {
    add,
    nextTurn: () => closed.clear(),
    unknown: () => byReason(unknown.values()),
    denied: () => byReason(denied.values()),
    closed: () => [...closed.keys()],
    failed: () => [...failed.values()].map(({ says }) => says),
    changed: () => counted(changed),
    calls: () => [...calls].map(([tool, { times, targets }]) => ({ tool, times, targets: counted(targets) })),
    lists: () => [...lists].map(([tool, text]) => ({ tool, text })),
    spills: () => [...spills].map(([path, about]) => `${path} (${about})`),
  }
}

/** What a call was about: its tool and what it acted on, or its input where it names nothing. */
export function aboutOf({ tool, target, input }: CallRecord): string {
  const what = target !== '' ? target : typeof input === 'object' ? (JSON.stringify(input) ?? '') : String(input)
  return `${tool} ${clip(what, 160)}`.trimEnd()
}

/** What was said of several is said once. */
const byReason = (open: Iterable<Open>): readonly Refusal[] =>
  [...Map.groupBy(open, ({ says }) => says)].map(([says, all]) => ({ calls: all.map(({ about }) => about), says }))

/** The latest goes to the end. */
function keep<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, most = 2000): void {
  map.delete(key)
  map.set(key, value)
  if (map.size > most) map.delete(map.keys().next().value as Key)
}

const counted = (map: ReadonlyMap<string, number>): readonly Counted[] => [...map].map(([what, times]) => ({ what, times }))

export function clip(text: string, most = MAX_WORDS): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length <= most ? line : `${line.slice(0, most - 1)}…`
}
