/** Builds replies from others (cut, joined, doubled, escaped, with other families' tags) and checks what must hold for each. */
import { announcements } from '../announcement.ts'
import { parseToolCalls } from '../parse-tool-calls.ts'
import { createReply } from '../reply.ts'
import type { ToolSpec } from '../tool-spec.ts'
import { families } from './registry.ts'

export interface Seed {
  readonly raw: string
  readonly tools: readonly ToolSpec[]
}

/** Returns pseudo-random numbers from 0 up to `below`, the same for the same seed. */
export type Random = (below: number) => number

/** mulberry32 */
export function randomOf(seed: number): Random {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return (((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * below || 0
  }
}

const MAX_LENGTH = 20_000
const BITS = [
  ...'{}[]()<>"\'`,:;=|\\/\n ',
  '```',
  '```json\n',
  '</tool_call>',
  '<think>',
  '</think>',
  '\\n',
  '\\"',
  '\\_',
  'functions.',
  '<|im_end|>',
  'For example: ',
  'Ich werde jetzt suchen.',
  '\u00a0',
  '\ud800',
  '🙂',
]

/** Returns a mutated seed reply, sometimes combined with another. */
export function mutated(seed: Seed, other: Seed, random: Random): string {
  let text = seed.raw.slice(0, MAX_LENGTH)
  const at = (): number => Math.floor(random(text.length + 1))
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random(items.length))] as Item
  const edits: readonly (() => string)[] = [
    () => text.slice(0, at()),
    () => text.slice(at()),
    () => {
      const from = at()
      return text.slice(0, from) + text.slice(from + Math.floor(random(30)))
    },
    () => {
      const from = at()
      return text.slice(0, from) + pick(BITS) + text.slice(from)
    },
    () => {
      const from = at()
      return text.slice(0, from) + pick([...families.flatMap(({ openers }) => openers), ...BITS]) + text.slice(from)
    },
    () => {
      const from = at()
      const part = text.slice(from, from + Math.floor(random(60)))
      return text.slice(0, from) + part.repeat(1 + Math.floor(random(20))) + text.slice(from)
    },
    () => text.slice(0, at()) + other.raw.slice(Math.floor(random(other.raw.length)), MAX_LENGTH),
    () => text + pick(['', '\n', '\n\n', ' ']) + other.raw.slice(0, MAX_LENGTH),
    () => text.replaceAll(pick(['"', '{', '<', '\n', ' ']), pick(BITS)),
    () => JSON.stringify(text).slice(1, -1),
  ]
  for (let times = 1 + Math.floor(random(4)); times > 0; times--) text = pick(edits)().slice(0, MAX_LENGTH)
  return text
}

/** Reads the reply in pieces of random length. */
function streamed(text: string, tools: readonly ToolSpec[], random: Random, opensInReasoning: boolean) {
  const reply = createReply(tools, { families, opensInReasoning, announcements })
  const shown = { text: '', reasoning: '' }
  const most = 1 + random(60)
  for (let at = 0; at < text.length; ) {
    const to = at + 1 + Math.floor(random(most))
    const part = reply.text(text.slice(at, to))
    shown.text += part.text
    shown.reasoning += part.reasoning
    at = to
  }
  const { text: rest, reasoning, ...end } = reply.end()
  return { ...end, text: shown.text + rest, reasoning: shown.reasoning + reasoning }
}

/** Milliseconds of CPU allowed per character, and additionally per reply, however slow the machine is. */
const PER_CHARACTER = 0.25
const BESIDES = 400

/** Returns what is wrong with how a reply is read; undefined if nothing is. Never throws. */
export function faultIn(text: string, tools: readonly ToolSpec[], random: Random): string | undefined {
  const opensInReasoning = random(4) < 1
  try {
    const before = process.cpuUsage()
    const whole = streamed(text, tools, () => 1e6, opensInReasoning)
    const { user, system } = process.cpuUsage(before)
    const took = (user + system) / 1000
    if (took > BESIDES + PER_CHARACTER * text.length) return `took ${Math.round(took)} ms for ${text.length} characters`
    const pieces = streamed(text, tools, random, opensInReasoning)
    for (const key of ['text', 'reasoning', 'calls', 'quoted', 'unclear'] as const)
      if (JSON.stringify(pieces[key]) !== JSON.stringify(whole[key])) return `${key} differ in pieces`
    const { calls } = parseToolCalls(text, tools, { opensInReasoning, announcements })
    const known = new Set(tools.map(({ name }) => name))
    const strange = calls.find(({ name }) => !known.has(name))
    return strange ? `a call of ${strange.name}, which is no tool` : undefined
  } catch (error) {
    return `threw ${(error as Error).stack ?? String(error)}`
  }
}
