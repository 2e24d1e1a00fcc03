/** Counts how well a model's tool calls work in a session, and says what would help. Pure. */
import type { AgentEvent } from '@mulligan/agent'
import type { Repair } from '@mulligan/core/executor'
import { plural } from '../ui/text.ts'

export interface Health {
  /** Tool calls of the model. */
  readonly calls: number
  /** Repairs of calls, by kind. */
  readonly repaired: Counts
  /** Calls that the model had to make again, by error type. */
  readonly retried: Counts
  /** Calls that were refused without being run: the tool was closed, or the call was a repetition. */
  readonly refused: number
}

type Counts = Readonly<Record<string, number>>

export const NO_HEALTH: Health = { calls: 0, repaired: {}, retried: {}, refused: 0 }

/** Repairs of one kind after which the person is told. */
const TOLD_AT = 3

/** What a kind of repair is called, and what a person can do about it. Kinds that are harmless habits of a model are missing. */
const KINDS: { readonly [Kind in Repair['kind']]?: readonly [name: string, help: string] } = {
  envelope: [
    'calls found in the text',
    "the server does not read this model's calls: start it with the model's own chat template (llama.cpp: --jinja; vLLM: --enable-auto-tool-choice and a --tool-call-parser)",
  ],
  wire: ['broken streams', 'a newer version of the server may send calls properly'],
  json: ['invalid JSON', 'a less compressed build of the model (Q6 or larger), or a larger model, writes valid JSON more often'],
  dropped: ['too many calls in one reply', 'lower the temperature, or use the sampling that the model was published with'],
  name: ['wrong tool names', 'fewer tools help: set tools.lean, or choose an agent that has only those it needs'],
  type: ['values of the wrong type', 'a less compressed build of the model (Q6 or larger) mistakes types less often'],
  wrapped: ['wrapped arguments', 'another chat template of the model may describe the tools better'],
}
/** What helps against the retries of one error type. */
const RETRIES: Readonly<Record<string, string>> = {
  malformed_call: 'the reply may be cut off: a larger context or output limit of the server helps',
  unknown_tool: 'fewer tools help: set tools.lean, or choose an agent that has only those it needs',
  validation: 'a larger model, or a less compressed build of this one, follows the parameters more often',
}

const counted = (counts: Counts, kind: string): Counts => ({ ...counts, [kind]: (counts[kind] ?? 0) + 1 })

export function countCall(health: Health, event: AgentEvent): Health {
  switch (event.type) {
    case 'tool.call':
      return { ...health, calls: health.calls + 1 }
    case 'tool.repaired':
      return event.repair.kind === 'ignored' ? health : { ...health, repaired: counted(health.repaired, event.repair.kind) }
    case 'tool.result': {
      const { result } = event
      if (result.ok) return health
      if (result.status === 'retry') return { ...health, retried: counted(health.retried, result.errorType) }
      return result.status === 'closed' || result.status === 'blocked' ? { ...health, refused: health.refused + 1 } : health
    }
    default:
      return health
  }
}

/** Returns what to tell the person after this event: once, when repairs of one kind have become frequent. */
export function healthNotice(before: Health, after: Health): string | undefined {
  const [kind] = Object.keys(after.repaired).filter((one) => after.repaired[one] === TOLD_AT && before.repaired[one] !== TOLD_AT)
  const known = KINDS[kind as Repair['kind']]
  return (
    known && `The model's calls needed a repair ${TOLD_AT} times (${known[0]}). What would help: ${known[1]}. /status shows the counts.`
  )
}

/** Returns lines for `/status`: the counts, and what would help. */
export function healthLines({ calls, repaired, retried, refused }: Health): readonly string[] {
  const list = (counts: Counts, name: (kind: string) => string): string =>
    Object.entries(counts)
      .sort(([, one], [, other]) => other - one)
      .map(([kind, count]) => `${count} ${name(kind)}`)
      .join(', ')
  const parts = [
    plural(calls, 'call'),
    ...(Object.keys(repaired).length > 0 ? [`repaired: ${list(repaired, (kind) => KINDS[kind as Repair['kind']]?.[0] ?? kind)}`] : []),
    ...(Object.keys(retried).length > 0 ? [`made again: ${list(retried, (kind) => kind)}`] : []),
    ...(refused > 0 ? [`refused: ${refused}`] : []),
  ]
  const help = [
    ...Object.keys(repaired)
      .filter((kind) => (repaired[kind] ?? 0) >= TOLD_AT)
      .map((kind) => KINDS[kind as Repair['kind']]?.[1]),
    ...Object.keys(retried)
      .filter((kind) => (retried[kind] ?? 0) >= TOLD_AT)
      .map((kind) => RETRIES[kind]),
  ].filter((one) => one !== undefined)
  return [parts.join('; '), ...[...new Set(help)].map((one) => `What would help: ${one}.`)]
}
