/** An address carries what is written into it: a page can ask a model to fetch one that has a secret in it. */
import { type CallRecord, defaultPolicy, type Policy, render, type Tool } from '@mulligan/core'
import type { Message } from '../history/message.ts'

export interface Outward {
  readonly tools: readonly Tool[]
  /** Whether this turn has read content from outside. */
  readonly untrusted: () => boolean
  /** The conversation up to this turn's message. */
  readonly history: readonly Message[]
  /** What this turn's calls have come to. */
  readonly records: readonly CallRecord[]
}

/**
 * The policy, and before it: once content from outside was read, an address that nobody but the model has written is
 * fetched when a person says so. Following a link, or an address of the user, stays free.
 */
export function outwardPolicy({ tools, untrusted, history, records }: Outward, policy: Policy = defaultPolicy): Policy {
  const outward = new Set(tools.filter((tool) => tool.effect === 'read' && tool.untrusted).map(({ name }) => name))
  /** What others than the model have said. Not what other tools show: they show what the model has written, too. */
  function* said(): Generator<string> {
    for (const message of history) {
      if (message.role === 'user') yield message.text
      if (message.role === 'results') yield* pages(message.records)
    }
    yield* pages(records)
  }
  function* pages(of: readonly CallRecord[]): Generator<string> {
    for (const { tool, result } of of) if (result.ok && outward.has(tool)) yield render(result)
  }
  return (request) => {
    const decided = policy(request)
    if (decided.decision === 'deny' || !outward.has(request.tool) || !untrusted()) return decided
    const address = URL.parse(request.target)
    if (!address?.host || isSaid(address, said())) return decided
    return {
      decision: 'ask',
      reason: 'this turn has read content from outside, and the address is one that the model has put together itself',
      forced: true,
    }
  }
}

/** As it stands in a text, which may leave out the scheme, and write letters that an address has in percent. */
function isSaid({ href, hash }: URL, texts: Iterable<string>): boolean {
  const bare = href
    .slice(0, href.length - hash.length)
    .replace(/^https?:\/\//, '')
    .replace(/\/$/, '')
  const spelt = decoded(bare)
  for (const text of texts) if (text.includes(bare) || text.includes(spelt)) return true
  return false
}

function decoded(text: string): string {
  try {
    return decodeURI(text)
  } catch {
    return text
  }
}
