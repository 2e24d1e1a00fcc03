/**
 * Treats sending as an effect: the text of an address or query leaves the machine with it. An address that a person or a result gave
 * verbatim reveals nothing the model has read. One the model composed may, so it is `external` once the model has read anything.
 */
import { type CallRecord, type Effect, type Policy, render, type Tool } from '@mulligan/core'
import type { PolicyRequest, Tainted } from '@mulligan/core/executor'
import { type Message, recordsOf, type UserMessage } from '../history/message.ts'
import { givesAddress, givesWords } from './given-addresses.ts'

export interface Egress {
  readonly tools: readonly Tool[]
  /** The conversation before this turn's replies. */
  readonly history: readonly Message[]
  /** The person's messages in it; grows while the turn runs. */
  readonly said: readonly UserMessage[]
  /** Records of this turn's calls; grows while it runs. */
  readonly records: readonly CallRecord[]
  /** What the turn that gave this task has read. */
  readonly before?: Tainted | undefined
}

/** Creates the egress policy, computed entirely from the recorded conversation, so later and resumed turns know what was read. */
export function egressPolicy({ tools, history, said, records, before = {} }: Egress) {
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  const earlier = recordsOf(history)
  const isOfOthers = (message: Message): boolean => message.role === 'user' && message.untrusted === true
  const isUntrusted = ({ tool, attempts, result }: CallRecord): boolean =>
    attempts > 0 && (byName.get(tool)?.untrusted === true || result.untrusted === true)
  const isSecret = ({ result }: CallRecord): boolean => result.secret === true
  // A tool that no longer exists may have read the workspace. A refusal counts too: its target may have been read in another way.
  const isOfWorkspace = ({ tool }: CallRecord): boolean => byName.get(tool)?.readsWorkspace ?? true
  const tainted = {
    untrusted: before.untrusted === true || history.some(isOfOthers) || earlier.some(isUntrusted),
    secret: before.secret === true || earlier.some(isSecret),
  }
  const withWorkspace = earlier.some(isOfWorkspace)

  const hasReadSecret = (): boolean => tainted.secret || records.some(isSecret)
  const hasRead = (): boolean =>
    withWorkspace ||
    said.some(({ attached }) => attached === true) ||
    tainted.untrusted ||
    records.some((one) => isOfWorkspace(one) || isUntrusted(one))

  /**
   * Returns whether an address was given: by a person, a page or a search result, or because it was fetched before. Fetching it again
   * reveals nothing new.
   */
  function isGiven(address: URL): boolean {
    if (said.some(({ text }) => givesAddress(text, address))) return true
    return [...earlier, ...records].some((record) => {
      const sends = byName.get(record.tool)?.sends
      if (!sends || !record.result.ok) return false
      // A search result repeats its query: an address the model wrote is not given just because it comes back.
      if (sends === 'query') return !givesAddress(textsOf(record.input), address) && givesAddress(render(record.result), address)
      return (record.target.length < CUT_TARGET && givesAddress(record.target, address)) || givesAddress(render(record.result), address)
    })
  }

  function reasonOf({ tool, target }: PolicyRequest): string | undefined {
    const sends = byName.get(tool)?.sends
    if (sends === 'query') return hasReadSecret() && !said.some(({ text }) => givesWords(text, target)) ? COMPOSED_QUERY : undefined
    if (sends !== 'address' || !hasRead()) return undefined
    const address = URL.parse(target.trim())
    return address?.host && !isGiven(address) ? COMPOSED_ADDRESS : undefined
  }

  return {
    /** What earlier turns have read. */
    tainted: tainted as Tainted,
    /** Wraps the policy so that it explains why a call that only reads needs approval or is denied. */
    withReason:
      (policy: Policy): Policy =>
      (request) => {
        const decided = policy(request)
        const reason = decided.decision === 'allow' || request.effect !== 'external' ? undefined : reasonOf(request)
        return reason === undefined
          ? decided
          : { ...decided, reason: decided.decision === 'deny' ? `${decided.reason} Here ${reason}.` : reason }
      },
    /** Returns the effect of a call, given what the session has read and who gave the address. */
    effectOf: (request: PolicyRequest): Effect => (reasonOf(request) === undefined ? request.effect : 'external'),
  }
}

/** Longer targets were cut and are not addresses that were sent. */
const CUT_TARGET = 500

const COMPOSED_ADDRESS =
  'the model composed this address, and may have written into it what this session has read; one that the user, a page or a search result gave as it stands needs no approval'
const COMPOSED_QUERY =
  'the model composed this query, and may have written into it what this session has read of a file with keys or passwords; words of the user need no approval'

/** Returns all texts in an input. */
function textsOf(input: unknown): string {
  if (typeof input === 'string') return input
  return typeof input === 'object' && input !== null ? Object.values(input).map(textsOf).join('\n') : ''
}

/** Returns whether a person has named a file in one of their messages, as `@path`. */
export const namedBy =
  (said: readonly UserMessage[]): ((path: string) => boolean) =>
  (path) =>
    said.some(({ mentions = [] }) => mentions.some((one) => plain(one) === plain(path)))

const plain = (path: string): string => path.replaceAll('\\', '/').replace(/^(?:\.\/)+/, '')
