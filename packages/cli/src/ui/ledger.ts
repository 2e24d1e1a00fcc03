/** Renders the text below an answer: what was changed, what failed, what is unknown, and how the turn ended. */
import type { LedgerEntry, TurnOutcome } from '@mulligan/agent'
import type { ToolResult } from '@mulligan/core'
import { oneLine } from '@mulligan/host/light'
import { DEFAULT_AGENT, type Settings } from '@mulligan/host/parts'
import type { Colors } from './colors.ts'
import { plural, thousands } from './text.ts'

/** Returns no lines if nothing was changed, failed or is unknown. */
export function ledgerLines(
  { ledger: { changed, failed, unknown }, calls }: Pick<TurnOutcome, 'ledger' | 'calls'>,
  { green, red, yellow }: Colors,
): string[] {
  const made = (entry: LedgerEntry): LedgerEntry => {
    const call = calls.find(({ id }) => id === entry.callId)
    const commit = call && commitOf(call)
    return commit ? { ...entry, target: commitText(commit) } : entry
  }
  return [
    ...changed.map((entry) => `${green('changed')}  ${named(made(entry))}`),
    ...failed.map((entry) => `${red(entry.status === 'denied' ? 'denied' : 'failed')}   ${named(entry)}${said(entry)}`),
    ...unknown.map((entry) => `${yellow('unknown')}  ${named(entry)}${said(entry)}`),
  ]
}

const named = ({ tool, target, words }: LedgerEntry): string =>
  [oneLine(tool, 64), oneLine(target, 120), words === undefined ? '' : `“${oneLine(words, 80)}”`].filter((part) => part !== '').join(' ')
const said = ({ says }: LedgerEntry): string => (says === undefined ? '' : `: ${oneLine(says, 300)}`)

/**
 * Returns a line with the model, where it runs, its usage, and the session to continue with. The agent is shown unless it is the default.
 */
export function statusLine(
  { requests, usage, sessionId }: TurnOutcome,
  model: { readonly id: string; readonly where: string },
  agent: string,
): string {
  const tokens = usage.inputTokens + usage.outputTokens
  return [
    oneLine(model.id, 120),
    `on ${oneLine(model.where, 80)}`,
    ...(agent === DEFAULT_AGENT ? [] : [`agent ${oneLine(agent, 40)}`]),
    plural(requests, 'request'),
    `${thousands(tokens)} tokens`,
    `session ${sessionId}`,
  ].join(' · ')
}

/**
 * Explains why a turn ended without an answer, and what to do.
 *
 * @param limits undefined if they are not known here
 * @param goOn how to continue the session
 */
export function endLines(
  { status, stoppedBy, error, sessionId }: Omit<TurnOutcome, 'calls'>,
  limits: Settings['limits'] | undefined,
  { red, yellow }: Colors,
  goOn = `To go on: mulligan run --session ${sessionId} "…"`,
): string[] {
  switch (status) {
    case 'failed':
    case 'interrupted':
      return [red(`The turn failed: ${oneLine(error ?? 'no reason is known', 500)}`)]
    case 'stopped':
      return [yellow(`Stopped by ${stopText(stoppedBy, limits)}. ${goOn}`)]
    case 'needs_approval':
      return [yellow('It needed approval, but nobody was there to give it. Run it in a terminal, or with --yes.')]
    case 'cancelled':
      return [yellow(`Cancelled. ${goOn}`)]
    default:
      return []
  }
}

const WORDS: Readonly<Record<string, string>> = {
  requests: 'the limit of model requests',
  calls: 'the limit of tool calls',
  tokens: 'the limit of tokens',
  cost: 'the limit of cost',
  seconds: 'the time limit',
}

/** Describes a limit and where it was set, so that the reader knows where to change it. */
function stopText(by: TurnOutcome['stoppedBy'], limits: Settings['limits'] | undefined): string {
  if (by === 'loop') return 'the loop guard'
  const words = WORDS[by ?? '']
  if (words === undefined) return oneLine(by ?? 'a limit')
  if (!limits) return words
  const { value, origin, from } = limits[by as keyof Settings['limits']]
  const where = origin === 'flag' ? `${from} ${value}` : origin === 'default' ? `${value} by default` : `${value}, limits.${by} in ${from}`
  return `${words} (${oneLine(where, 200)})`
}

export interface Commit {
  readonly hash: string
  readonly subject: string
}

export function commitOf({ tool, result }: { readonly tool: string; readonly result: ToolResult }): Commit | undefined {
  if (tool !== 'git_commit' || !result.ok) return undefined
  const { hash, subject } = (result.data ?? {}) as { readonly hash?: unknown; readonly subject?: unknown }
  return typeof hash === 'string' && typeof subject === 'string' ? { hash, subject } : undefined
}

const SHORT = 7

const shortHash = ({ hash }: Commit): string => oneLine(hash.slice(0, SHORT))
export const commitText = (commit: Commit): string => `${shortHash(commit)} ${oneLine(commit.subject, 100)}`
