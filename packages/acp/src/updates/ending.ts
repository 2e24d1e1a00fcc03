/** Tells the editor how a turn ended: the engine's ledger of what was changed, failed or is unknown, and the reason for stopping. */
import type { PromptResponse, SessionUpdate, StopReason } from '@agentclientprotocol/sdk'
import type { LedgerEntry, StoppedBy, TurnOutcome } from '@mulligan/agent'
import { oneLine } from '@mulligan/host/light'
import { turnFailed } from '../errors.ts'

const OF_LIMIT: Readonly<Partial<Record<StoppedBy, StopReason>>> = {
  requests: 'max_turn_requests',
  calls: 'max_turn_requests',
  loop: 'max_turn_requests',
  tokens: 'max_tokens',
  context: 'max_tokens',
}

/** @throws RequestError if the turn failed */
export async function endOf(outcome: TurnOutcome, send: (update: SessionUpdate) => Promise<void>): Promise<PromptResponse> {
  const text = ledgerText(outcome)
  if (text !== '') await send({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: `\n\n${text}` } })
  switch (outcome.status) {
    case 'cancelled':
      return { stopReason: 'cancelled' }
    case 'stopped':
      return { stopReason: OF_LIMIT[outcome.stoppedBy ?? 'requests'] ?? 'end_turn' }
    case 'failed':
    case 'interrupted':
      throw turnFailed(`The turn failed: ${oneLine(outcome.error ?? 'no reason is known', 1000)}`)
    default:
      return { stopReason: 'end_turn' }
  }
}

function ledgerText({ ledger: { changed, failed, unknown } }: TurnOutcome): string {
  const lines = (label: string, entries: readonly LedgerEntry[]): string[] =>
    entries.map(({ tool, target, words, says }) => {
      const about = [tool, target, words === undefined ? '' : `“${words}”`].map((part) => oneLine(part, 160)).filter((part) => part !== '')
      return `- ${label}: ${code(about.join(' '))}${says === undefined ? '' : ` ${oneLine(says, 300)}`}`
    })
  return [...lines('changed', changed), ...lines('failed', failed), ...lines('**unknown**', unknown)].join('\n')
}

/** Foreign text as a code span, which can't contain a backtick. */
const code = (text: string): string => `\`${text.replaceAll('`', "'")}\``
