/** Asks the person whether a call may run. */
import { createInterface } from 'node:readline/promises'
import type { ApprovalDecision, ApprovalRequest } from '@mulligan/core'
import type { Colors } from './colors.ts'
import { oneLine, safeJson, visible } from './sanitize.ts'

export type Approve = (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalDecision>

/** Puts a question to a person. `undefined` when it was closed without an answer. */
export type Ask = (question: string, signal: AbortSignal) => Promise<string | undefined>

export interface ApproverOptions {
  /** `--yes`: stands for a person, but not where only a person may answer. */
  readonly yes: boolean
  /** Absent when nobody is there. */
  readonly ask?: Ask
  readonly colors: Colors
}

/** An approver for one session: "session" is remembered for the tool, and questions come one at a time. */
export function createApprover({ yes, ask, colors }: ApproverOptions): Approve {
  const allowed = new Set<string>()
  let previous: Promise<unknown> = Promise.resolve()

  async function decide(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalDecision> {
    if (!request.forced && yes) return { answer: 'once' }
    if (!request.forced && allowed.has(request.tool)) return { answer: 'session' }
    if (!ask) return { answer: 'nobody' }
    let question = questionOf(request, colors)
    for (;;) {
      const line = await ask(question, signal)
      if (line === undefined) return { answer: signal.aborted ? 'timeout' : 'no' }
      const decision = answerOf(line)
      if (decision?.answer === 'session') allowed.add(request.tool)
      if (decision) return decision
      question = 'Please answer y, s or n: '
    }
  }

  return (request, signal) => {
    const mine = previous.then(() => decide(request, signal))
    previous = mine.catch(() => undefined)
    return mine
  }
}

/** `n too risky` is a no with a reason. `undefined` for what is no answer. */
export function answerOf(line: string): ApprovalDecision | undefined {
  const [word = '', ...rest] = line.trim().split(/\s+/)
  const reason = rest.join(' ').slice(0, 500)
  if (/^(?:n|no)[,:.]?$/i.test(word)) return { answer: 'no', ...(reason !== '' && { reason }) }
  if (reason !== '') return undefined
  if (/^(?:y|yes)$/i.test(word)) return { answer: 'once' }
  return /^(?:s|session)$/i.test(word) ? { answer: 'session' } : undefined
}

const MOST_LINES = 40
const MOST_CHARS = 4000

function questionOf({ tool, effect, target, input, reason, forced }: ApprovalRequest, { bold, yellow, dim }: Colors): string {
  return [
    '',
    `${yellow('?')} ${bold(oneLine(tool, 64))} (${effect}) ${oneLine(target, 200)}`,
    ...inputLines(input).map((line) => `    ${line}`),
    dim(`  It asks because ${oneLine(reason, 300)}.${forced ? ' Only you can allow it.' : ''}`),
    `  [y]es once, [s]ession, [n]o and why: `,
  ].join('\n')
}

/** The exact input, readable: long texts on lines of their own. What is left out is counted. */
export function inputLines(input: Readonly<Record<string, unknown>>): string[] {
  const lines = Object.entries(input).flatMap(([key, value]) => {
    const name = oneLine(key, 64)
    const text = typeof value === 'string' ? visible(value) : safeJson(value, 2)
    if (!text.includes('\n')) return [`${name}: ${clip(text)}`]
    return [`${name}:`, ...text.split('\n').map((line) => `  | ${clip(line)}`)]
  })
  return lines.length > MOST_LINES ? [...lines.slice(0, MOST_LINES), `… ${lines.length - MOST_LINES} more lines`] : lines
}

const clip = (line: string): string =>
  line.length > MOST_CHARS / 4 ? `${line.slice(0, MOST_CHARS / 4)}… ${line.length - MOST_CHARS / 4} more characters` : line

/** Asks on stderr and reads the terminal. `interrupt` is called for Ctrl-C, which a terminal being read does not send as a signal. */
export function askInTerminal(interrupt: () => void): Ask {
  return async (question, signal) => {
    const reader = createInterface({ input: process.stdin, output: process.stderr, terminal: true })
    const ended = new AbortController()
    reader.on('SIGINT', interrupt)
    reader.on('close', () => ended.abort())
    const lastLine = question.lastIndexOf('\n') + 1
    process.stderr.write(question.slice(0, lastLine))
    try {
      return await reader.question(question.slice(lastLine), { signal: AbortSignal.any([signal, ended.signal]) })
    } catch {
      process.stderr.write('\n')
      return undefined
    } finally {
      reader.close()
    }
  }
}
