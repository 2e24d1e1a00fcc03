/** Collects the facts at a point in a session from its call records: open denials, indeterminate calls, changes, failures. */
import { type CallRecord, render } from '@mulligan/core'
import { canonical } from '@mulligan/core/executor'

export type SessionFacts = ReturnType<typeof createFacts>

/** A refusal and the calls it concerns. */
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

/** @param keepsLatest returns whether each result of a tool contains the whole list, so that only the latest counts */
export function createFacts(keepsLatest: (tool: string) => boolean) {
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

  /**
   * Settles unknown effects. The executor runs another call on the same target only after a person who knows about the first has
   * approved it.
   */
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
    /** Starts the next turn: tools closed for a turn are open again. */
    nextTurn: () => closed.clear(),
    /** Returns the effects that may or may not have taken place. */
    unknown: () => byReason(unknown.values()),
    /** Returns the calls that a person or policy denied, or that nobody could be asked about. */
    denied: () => byReason(denied.values()),
    closed: () => [...closed.keys()],
    failed: () => [...failed.values()].map(({ says }) => says),
    /** Returns the changes, latest last; `times` is how often. */
    changed: () => counted(changed),
    calls: () => [...calls].map(([tool, { times, targets }]) => ({ tool, times, targets: counted(targets) })),
    /** Returns the latest list of each tool that keeps one. */
    lists: () => [...lists].map(([tool, text]) => ({ tool, text })),
    /** Returns the paths of full outputs. */
    spills: () => [...spills].map(([path, about]) => `${path} (${about})`),
  }
}

/** Describes a call by its tool and target, or by its input if it has no target. */
export function aboutOf({ tool, target, input }: CallRecord): string {
  const what = target !== '' ? target : typeof input === 'object' ? (JSON.stringify(input) ?? '') : String(input)
  return `${tool} ${clip(what, 160)}`.trimEnd()
}

/** Groups calls by reason, so that each reason appears once. */
const byReason = (open: Iterable<Open>): readonly Refusal[] =>
  [...Map.groupBy(open, ({ says }) => says)].map(([says, all]) => ({ calls: all.map(({ about }) => about), says }))

/** Sets a key as the latest entry and drops the oldest if there are too many. */
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
