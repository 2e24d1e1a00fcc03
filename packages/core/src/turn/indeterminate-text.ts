/** Describes indeterminate calls to a person and to the model. Text from the model is quoted on one line and shortened. */
import type { PreparedCall } from '../call/prepared-call.ts'
import type { Tool } from '../tool.ts'
import type { IndeterminateCall } from './indeterminate.ts'

/** Calls that a question names, the latest first. */
const MAX_NAMED = 2
const MAX_TARGET = 80
const MAX_WORDS = 60

/** Why a call asks, for the person: which calls may have taken effect. Completes "Needs approval: …". */
export function whyUncertain(calls: readonly IndeterminateCall[], running: ReadonlySet<string>): string {
  const tool = quoted(calls[0]?.tool ?? '', 64)
  const named = calls
    .toReversed()
    .slice(0, MAX_NAMED)
    .map((call) => nameOf(call) + (running.has(call.id) ? ', still running' : ''))
  const rest = calls.length - named.length
  return calls.length === 1
    ? `a previous ${tool} call (${named[0]}) was cut off; it may have taken effect`
    : `previous ${tool} calls (${named.join('; ')}${rest > 0 ? `; and ${rest} more` : ''}) were cut off; they may have taken effect`
}

/** What it acted on, and the first words of its input where they say more. */
function nameOf({ targets = [], input }: Pick<IndeterminateCall, 'targets' | 'input'>): string {
  const target = targets.join(', ')
  const words = textsBeside(target, input)
  return [target && quoted(target, MAX_TARGET), words && quoted(words, MAX_WORDS)].filter(Boolean).join(': ') || 'without input'
}

/** The first words of an input, on one line; empty if they say no more than the target. `redact` is applied before they are cut. */
export const inputWords = (input: unknown, target: string, redact: (text: string) => string): string =>
  shortLine(redact(textsBeside(target, input)), MAX_WORDS)

const textsBeside = (target: string, input: unknown): string =>
  textsIn(input)
    .filter((text) => text.length > 1 && !target.includes(text))
    .join(' ')

function textsIn(input: unknown, depth = 0): readonly string[] {
  if (typeof input === 'string') return [input]
  if (typeof input !== 'object' || input === null || depth > 3) return []
  return Object.values(input).flatMap((value) => textsIn(value, depth + 1))
}

const quoted = (text: string, most: number): string => `\`${shortLine(text.replaceAll('`', "'"), most)}\``

function shortLine(text: string, most: number): string {
  const line = text
    .slice(0, 10 * most)
    .replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .trim()
  return line.length <= most ? line : `${line.slice(0, most - 1)}…`
}

/** What the model is to check, with the result of an indeterminate call. */
export function checkNote(
  { tool, target, targets, input }: Pick<PreparedCall, 'tool' | 'target' | 'targets'> & { readonly input: unknown },
  scope?: Tool['indeterminateScope'],
): string {
  const about = nameOf({ targets: targets ?? (target === '' ? [] : [target]), input })
  const others =
    scope === 'target' ? `every other call of ${tool} on the same target` : `every other call of ${tool} that may change something`
  return `Check with calls that only read what became of ${about}. Until this is settled, ${others} needs the user's approval.`
}
