/**
 * Sending is an effect: what is written into an address or a query leaves the machine with it. One that a person or a result gave
 * verbatim says nothing of what the model has read; one that the model composed may, so it is `external` once there was anything to tell.
 */
import { type CallRecord, type Effect, type Policy, type PolicyRequest, render, type Tainted, type Tool } from '@mulligan/core'
import type { Message, UserMessage } from '../history/message.ts'
import { givesAddress, givesWords } from './given-addresses.ts'

export interface Egress {
  readonly tools: readonly Tool[]
  /** The conversation up to and with this turn's message. */
  readonly history: readonly Message[]
  /** What this turn's calls have come to; grows while it runs. */
  readonly records: readonly CallRecord[]
}

export interface EgressPolicy {
  /** What a call amounts to, given what the session has read and who named the address. */
  readonly effectOf: (request: PolicyRequest) => Effect
  /** The policy, which says why a call that only reads is asked about or denied. */
  readonly withReason: (policy: Policy) => Policy
  /** What the turns before this one have read. */
  readonly tainted: Tainted
}

/** All of it is computed from the recorded conversation: a later turn and a resumed one know what was read. */
export function egressPolicy({ tools, history, records }: Egress): EgressPolicy {
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  const earlier = history.flatMap((message) => (message.role === 'results' ? message.records : []))
  const messages = history.filter((message) => message.role === 'user')
  const isUntrusted = ({ tool, attempts }: CallRecord): boolean => attempts > 0 && byName.get(tool)?.untrusted === true
  const isSecret = ({ result }: CallRecord): boolean => result.secret === true
  // A tool that is there no more may have read it. A refusal counts too: what it names may have been read in another way.
  const isOfWorkspace = ({ tool }: CallRecord): boolean => byName.get(tool)?.readsWorkspace ?? true
  const tainted = { untrusted: earlier.some(isUntrusted), secret: earlier.some(isSecret) }
  const withWorkspace = messages.some(({ attached }) => attached === true) || earlier.some(isOfWorkspace)

  const hasReadSecret = (): boolean => tainted.secret || records.some(isSecret)
  const hasRead = (): boolean => withWorkspace || tainted.untrusted || records.some((one) => isOfWorkspace(one) || isUntrusted(one))

  /** A person's words, what pages and searches say, and what was fetched before: asked for again it tells nothing new. */
  function isGiven(address: URL): boolean {
    if (messages.some(({ text }) => givesAddress(text, address))) return true
    return [...earlier, ...records].some((record) => {
      const sends = byName.get(record.tool)?.sends
      if (!sends || !record.result.ok) return false
      // A search repeats its query: what the model wrote is not given by its coming back.
      if (sends === 'query') return !givesAddress(textsOf(record.input), address) && givesAddress(render(record.result), address)
      return (record.target.length < CUT_TARGET && givesAddress(record.target, address)) || givesAddress(render(record.result), address)
    })
  }

  function reasonOf({ tool, target }: PolicyRequest): string | undefined {
    const sends = byName.get(tool)?.sends
    if (sends === 'query') return hasReadSecret() && !messages.some(({ text }) => givesWords(text, target)) ? COMPOSED_QUERY : undefined
    if (sends !== 'address' || !hasRead()) return undefined
    const address = URL.parse(target.trim())
    return address?.host && !isGiven(address) ? COMPOSED_ADDRESS : undefined
  }

  return {
    tainted,
    withReason: (policy) => (request) => {
      const decided = policy(request)
      const reason = decided.decision === 'allow' || request.effect !== 'external' ? undefined : reasonOf(request)
      return reason === undefined
        ? decided
        : { ...decided, reason: decided.decision === 'deny' ? `${decided.reason} Here ${reason}.` : reason }
    },
    effectOf: (request) => (reasonOf(request) === undefined ? request.effect : 'external'),
  }
}

/** A longer target was cut, and is no address that was sent. */
const CUT_TARGET = 500

const COMPOSED_ADDRESS =
  'the model composed this address, and may have written into it what this session has read; one that the user, a page or a search result gave as it stands needs no approval'
const COMPOSED_QUERY =
  'the model composed this query, and may have written into it what this session has read of a file with keys or passwords; words of the user need no approval'

/** The texts in an input. */
function textsOf(input: unknown): string {
  if (typeof input === 'string') return input
  return typeof input === 'object' && input !== null ? Object.values(input).map(textsOf).join('\n') : ''
}

/** Whether a person has named a file in a message of theirs, as `@path`. */
export function namedBy(history: readonly Message[]): (path: string) => boolean {
  const named = new Set(
    history.filter((message): message is UserMessage => message.role === 'user').flatMap(({ mentions = [] }) => mentions.map(plain)),
  )
  return (path) => named.has(plain(path))
}

const plain = (path: string): string => path.replaceAll('\\', '/').replace(/^(?:\.\/)+/, '')
