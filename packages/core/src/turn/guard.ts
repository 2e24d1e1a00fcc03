/** The loop guard: detects the same call with the same result and no effect in between. A pure reducer over events. */
import { canonical, hash } from '@mulligan/repair'
import type { ToolEvent } from '../events.ts'
import type { ToolResult } from '../result.ts'
import type { Effect } from '../tool.ts'

/** The repetition at which a call gets a warning. The next one is refused. */
export const WARN_AT = 3
export const BLOCK_AT = 4
/** The number of model responses with a refused call after which the turn ends. */
export const MAX_BLOCKS = 2
/** Repeats further apart than this many model responses are not a loop. Also the longest cycle that is detected. */
const MAX_CYCLE = 5
const KEPT = 200

interface Entry {
  readonly step: number
  /** The tool and its canonical input. */
  readonly key: string
  /** The key with case, white space and quotes of the values normalized; only for failures. */
  readonly loose: string
  readonly fingerprint: string
  readonly failed: boolean
  /** Whether it changed something: an earlier read may then return something else now. */
  readonly changed: boolean
}

export interface Guard {
  readonly entries: readonly Entry[]
  readonly blockedSteps: readonly number[]
  /** Calls that a result of this turn told the model to make. True until the model has made the call, which is allowed once. */
  readonly suggested: Readonly<Record<string, boolean>>
}

/** Compared by identity, so that no key is built when there are no suggestions. */
const NONE: Guard['suggested'] = {}

export const NO_LOOPS: Guard = { entries: [], blockedSteps: [], suggested: NONE }

interface Asked {
  readonly tool: string
  readonly inputKey: string
  readonly step: number
  readonly effect: Effect
}

/** Returns how often this exact call was just made with the same outcome; 0 for a new or suggested call. */
export function repeats(guard: Guard, asked: Asked): number {
  if (guard.suggested !== NONE && guard.suggested[keyOf(asked.tool, asked.inputKey)] === true) return 0
  return Math.max(sameWithNothingChanged(guard.entries, asked), cycleOfEffects(guard.entries, asked))
}

/** Returns whether the turn must be concluded because the model is looping. */
export const isLooping = (guard: Guard): boolean => guard.blockedSteps.length >= MAX_BLOCKS

export function reduceGuard(guard: Guard, event: ToolEvent): Guard {
  if (event.type === 'guard.warning' && event.blocked) {
    if (guard.blockedSteps.includes(event.step)) return guard
    return { ...guard, blockedSteps: [...guard.blockedSteps, event.step] }
  }
  if (event.type !== 'tool.result' || event.late) return guard
  const entry = entryOf(guard, event)
  const suggested = withSuggestion(guard.suggested, event)
  if (!entry && suggested === guard.suggested) return guard
  return {
    ...guard,
    suggested,
    entries: entry ? [...(guard.entries.length < KEPT ? guard.entries : guard.entries.slice(1 - KEPT)), entry] : guard.entries,
  }
}

type ResultEvent = Extract<ToolEvent, { type: 'tool.result' }>

function withSuggestion(suggested: Guard['suggested'], { tool, inputKey, result }: ResultEvent): Guard['suggested'] {
  if (!result.ok && UNRUN.has(result.status)) return suggested
  const made = suggested === NONE ? '' : keyOf(tool, inputKey)
  const isMade = suggested[made] === true
  const call = result.ok ? undefined : result.details?.call
  const next = call && keyOf(call.tool, canonical(call.input))
  const isNew = next !== undefined && !Object.hasOwn(suggested, next)
  if (!isMade && !isNew) return suggested
  return { ...suggested, ...(isMade && { [made]: false }), ...(isNew && { [next]: true }) }
}

function entryOf({ entries }: Guard, { tool, inputKey, result, step, effect }: ResultEvent): Entry | undefined {
  const key = keyOf(tool, inputKey)
  if (!result.ok && result.errorType === 'loop') {
    // A refused repeat keeps its place in the cycle; otherwise the rest of the cycle would count as new.
    const same = entries.findLast((entry) => entry.key === key)
    return same && { ...same, step }
  }
  if (!result.ok && UNRUN.has(result.status)) return undefined
  return {
    step,
    key,
    loose: result.ok ? '' : looseKey(tool, inputKey),
    fingerprint: fingerprint(result),
    failed: !result.ok,
    changed: effect !== 'read' && (result.ok || result.status === 'indeterminate'),
  }
}

/** Statuses of the engine's own refusals, which are not outcomes of the call. */
const UNRUN = new Set(['blocked', 'closed', 'cancelled', 'denied'])

/**
 * Counts the uninterrupted repetitions of this call with the same outcome, going back to the last effect. Failed calls that differ
 * only in formatting count as the same. {@link repeats} exempts calls suggested by a hint.
 */
function sameWithNothingChanged(entries: readonly Entry[], asked: Asked): number {
  const key = keyOf(asked.tool, asked.inputKey)
  let loose: string | undefined
  let found: Entry | undefined
  let count = 0
  let nearestStep = asked.step
  for (let at = entries.length - 1; at >= 0; at--) {
    const entry = entries[at] as Entry
    if (entry.changed || nearestStep - entry.step > MAX_CYCLE) break
    if (entry.failed) loose ??= looseKey(asked.tool, asked.inputKey)
    const same = entry.key === key || (entry.failed && entry.loose === loose)
    if (!same) continue
    if (found && found.fingerprint !== entry.fingerprint) break
    found ??= entry
    nearestStep = entry.step
    count++
  }
  return count
}

/**
 * Counts how often effects went round in a cycle of 1 to 5 calls with identical outcomes. A read in between ends the cycle, since the
 * model has looked again.
 */
function cycleOfEffects(entries: readonly Entry[], asked: Asked): number {
  const key = keyOf(asked.tool, asked.inputKey)
  let most = 0
  for (let length = 1; length <= MAX_CYCLE; length++) {
    let matched = 0
    for (let at = entries.length - 1; at >= 0; at--) {
      const entry = entries[at] as Entry
      const later = at + length < entries.length ? (entries[at + length] as Entry) : undefined
      const same = later
        ? later.key === entry.key && later.fingerprint === entry.fingerprint
        : at + length > entries.length || entry.key === key
      if (!entry.changed || !same) break
      matched++
    }
    most = Math.max(most, Math.floor(matched / length))
  }
  return most
}

/** Hashes the parts of a result that are stable across repetitions: no durations, notes, remaining tries or spill paths. */
function fingerprint(result: ToolResult): string {
  if (result.ok)
    return hash(`ok ${typeof result.content === 'string' && !result.truncated ? result.content : canonical(strip(result.data))}`)
  return hash(`${result.status} ${result.errorType} ${result.details?.parameter ?? ''} ${result.details?.constraint ?? ''}`)
}

const UNSTABLE = new Set(['durationMs', 'duration', 'elapsedMs', 'timestamp', 'spill'])

function strip(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const stable = Object.entries(value).filter(([key]) => !UNSTABLE.has(key))
  return stable.length === 0 ? value : Object.fromEntries(stable)
}

const keyOf = (tool: string, inputKey: string): string => `${tool} ${inputKey}`

function looseKey(tool: string, inputKey: string): string {
  const values: unknown = JSON.parse(inputKey)
  return keyOf(
    tool,
    JSON.stringify(values, (_, value: unknown) => (typeof value === 'string' ? fold(value) : value)),
  )
}

/** Normalizes letter case, quotes and white space. Punctuation is kept because it matters: `a/b` and `a.b` differ. */
const fold = (value: string): string => value.toLowerCase().replace(/["'`]/g, '').replace(/\s+/g, ' ').trim()
