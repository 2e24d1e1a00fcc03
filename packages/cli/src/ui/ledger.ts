/** What stands under an answer: what was changed, what failed, what is unknown, and how the turn went. */
import type { Ledger, LedgerEntry, TurnOutcome } from '@mulligan/agent'
import type { Colors } from './colors.ts'
import { oneLine } from './sanitize.ts'

/** None when nothing was changed, nothing failed and nothing is unknown. */
export function ledgerLines({ changed, failed, unknown }: Ledger, { green, red, yellow }: Colors): string[] {
  return [
    ...changed.map((entry) => `${green('changed')}  ${named(entry)}`),
    ...failed.map((entry) => `${red('failed')}   ${named(entry)}${said(entry)}`),
    ...unknown.map((entry) => `${yellow('unknown')}  ${named(entry)}${said(entry)}`),
  ]
}

const named = ({ tool, target }: LedgerEntry): string => `${oneLine(tool, 64)} ${oneLine(target, 120)}`.trim()
const said = ({ says }: LedgerEntry): string => (says === undefined ? '' : `: ${oneLine(says, 300)}`)

/** Model, where it runs, what it took, and under which name it can be gone on with. */
export function statusLine({ requests, usage, sessionId }: TurnOutcome, model: { readonly id: string; readonly where: string }): string {
  const tokens = usage.inputTokens + usage.outputTokens
  return [
    oneLine(model.id, 120),
    `on ${oneLine(model.where, 80)}`,
    `${requests} request${requests === 1 ? '' : 's'}`,
    `${tokens.toLocaleString('en-US')} tokens`,
    `session ${sessionId}`,
  ].join(' · ')
}

/** Why a turn came to no answer of its own, and what to do. */
export function endLines({ status, stoppedBy, error, sessionId }: TurnOutcome, { red, yellow }: Colors): string[] {
  switch (status) {
    case 'failed':
    case 'interrupted':
      return [red(`The turn failed: ${oneLine(error ?? 'no reason is known', 500)}`)]
    case 'stopped':
      return [
        yellow(
          `Stopped by ${WORDS[stoppedBy ?? ''] ?? oneLine(stoppedBy ?? 'a limit')}. To go on: mulligan run --session ${sessionId} "…"`,
        ),
      ]
    case 'needs_approval':
      return [yellow('It needed an approval, and nobody was there to give one. Run it in a terminal, or with --yes.')]
    case 'cancelled':
      return [yellow(`Cancelled. To go on: mulligan run --session ${sessionId} "…"`)]
    default:
      return []
  }
}

const WORDS: Readonly<Record<string, string>> = {
  requests: 'the limit of model requests (--max-requests)',
  calls: 'the limit of tool calls',
  seconds: 'the time limit (--timeout)',
  loop: 'the loop guard',
}
