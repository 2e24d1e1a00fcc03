/** Remembers the messages that a digest replaces. Each message is added once, so a compaction costs only what is new. */
import { type CallRecord, render, type ToolResult } from '@mulligan/core'
import { type AssistantMessage, callsOf, type Message, textOf } from '../history/message.ts'
import { type Digest, type DigestBudget, digestText } from './digest.ts'
import { estimateText } from './estimate.ts'
import { aboutOf, createFacts } from './facts.ts'
import { createLines } from './lines.ts'

export interface DigestOptions {
  /** The user's last message is sent whole beside the digest, so it is left out of it. */
  readonly withoutLast?: boolean
}

/** Bonus of a line over a line of a result, by its source. */
const USER = 4
const FIRST_TASK = 3
const ANSWER = 2
const WORDS = 1
const NOTES = 1.5
/** Bonus of written content, which can be read again. */
const WRITTEN = 0.5
const FAILURE = 0.5

const REFUSED = new Set(['denied', 'indeterminate', 'closed', 'blocked', 'cancelled'])
/** Tokens beyond which the user's words are kept line by line. */
const MAX_WHOLE = 20_000

/** Returns a tool's `digest` setting. */
export type DigestOf = (tool: string) => 'notes' | 'latest' | undefined

export function createMemory(digestOf: DigestOf) {
  const lines = createLines()
  const facts = createFacts((tool) => digestOf(tool) === 'latest')
  let users: string[] = []
  let userTokens = 0
  let last = { text: -1, tokens: 0 }
  let messages = 0
  let calls = 0

  function add(more: readonly Message[]): void {
    for (const message of more) {
      if (message.role === 'user') user(message.text)
      else if (message.role === 'assistant') assistant(message)
      else for (const one of message.records) record(one)
    }
  }

  function user(text: string): void {
    messages++
    facts.nextTurn()
    lines.mention(text)
    const added = lines.add(text, { source: 'user', label: '', bonus: USER + (messages === 1 ? FIRST_TASK : 0) })
    last = { text: added, tokens: estimateText(text) }
    userTokens += last.tokens
    if (userTokens <= MAX_WHOLE) users.push(text)
    else users = []
  }

  function assistant(message: AssistantMessage): void {
    messages++
    const text = textOf(message)
    lines.mention(text)
    lines.add(text, { source: 'model', label: '', bonus: callsOf(message).length === 0 ? ANSWER : WORDS })
  }

  function record(one: CallRecord): void {
    calls++
    facts.add(one)
    const { tool, target, effect, result } = one
    const inputs = words(one.input)
    for (const text of inputs) lines.mention(text)
    if (digestOf(tool) === 'notes') {
      for (const text of inputs) lines.add(text, { source: 'model', label: '', bonus: NOTES })
      return
    }
    const label = aboutOf(one)
    if (effect !== 'read' && (result.ok || result.status === 'indeterminate'))
      // The label contains the target.
      for (const text of inputs) if (text !== target) lines.add(text, { source: 'result', label, bonus: WRITTEN })
    // Refusals are listed separately, and their text is the engine's.
    if (result.ok || !REFUSED.has(result.status)) lines.add(said(result), { source: 'result', label, bonus: result.ok ? 0 : FAILURE })
  }

  return {
    /** Adds the next messages, in order. */
    add,
    /** Returns the digest of the messages within `budget` tokens. The same messages and budget give the same text. */
    digest: (budget: DigestBudget, { withoutLast = false }: DigestOptions = {}): Digest => {
      const whole = userTokens <= MAX_WHOLE ? (withoutLast ? users.slice(0, -1) : users) : undefined
      const user = { users: whole, userTokens: userTokens - (withoutLast ? last.tokens : 0), except: withoutLast ? last.text : -1 }
      return digestText({ lines, facts, ...user, messages, calls }, budget)
    },
  }
}

/** Returns what the tool reported, without the engine's additions. */
const said = (result: ToolResult): string =>
  result.ok
    ? render(result).replace(OF_THE_ENGINE, '')
    : [result.error, typeof result.content === 'string' ? result.content : ''].join('\n')

const OF_THE_ENGINE = /^(?:\[\d+ characters in all.*\]|… \d+ characters left out …|has_more=.*)$/gm

/** Returns all texts in an input. */
function words(input: unknown, depth = 0): readonly string[] {
  if (typeof input === 'string') return [input]
  if (typeof input !== 'object' || input === null || depth > 3) return []
  return Object.values(input).flatMap((value) => words(value, depth + 1))
}
