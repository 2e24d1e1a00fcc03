/** `mulligan approvals` lists, shows and answers the questions for which turns are parked. */
import type { ApprovalRow, Store, StoredAnswer } from '@mulligan/agent'
import { oneLine, UsageError } from '@mulligan/host/light'
import { type ApprovalQuestion, openStoreAt } from '@mulligan/host/parts'
import { lookOf } from '../approval/approval.ts'
import { questionOf } from '../approval/question-text.ts'
import { fromHome, openDataDir } from '../paths.ts'
import { EXIT } from '../process.ts'
import type { Output } from '../ui/output.ts'
import { localTime, print, table } from '../ui/text.ts'

interface Flags {
  readonly json?: boolean
}

async function withStore<T>({ err }: Output, use: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStoreAt(openDataDir(), process.env, (text) => err(`mulligan: ${oneLine(text, 800)}\n`))
  try {
    return await use(store)
  } finally {
    await store.close()
  }
}

const asked = ({ question }: ApprovalRow): ApprovalQuestion => question as ApprovalQuestion

/** What `--json` prints of a question. */
const forPrograms = ({ question, ...row }: ApprovalRow): object => ({ ...row, ...(question as ApprovalQuestion) })

export async function listApprovals({ all = false, json }: Flags & { readonly all?: boolean }, output: Output): Promise<number> {
  const rows = await withStore(output, (store) => store.approvals(all ? {} : { status: 'pending' }))
  const lines = rows.map((row) => {
    const { request } = asked(row)
    return [
      row.id.slice(0, SHORT),
      localTime(row.createdAt),
      ...(all ? [row.answer?.answer ?? row.status] : []),
      `${request.tool} (${request.effect}) ${oneLine(request.target, 60)}`,
      row.sessionId,
    ]
  })
  print(
    output,
    json,
    { approvals: rows.map(forPrograms) },
    rows.length === 0
      ? ['No call is waiting for approval.']
      : table([['ID', 'WHEN', ...(all ? ['ANSWER'] : []), 'CALL', 'SESSION'], ...lines]),
  )
  return EXIT.ok
}

/** Characters of an id that are shown in a list. */
const SHORT = 8

/** @throws UsageError */
async function approvalNamed(store: Store, id: string): Promise<ApprovalRow> {
  const found = (await store.approvals({})).filter((row) => row.id.startsWith(id))
  const [row, ...others] = found.length > 1 ? found.filter(({ status }) => status === 'pending') : found
  if (!row) throw new UsageError(`there is no question ${oneLine(id, 60)}`, 'mulligan approvals list shows the pending ones.')
  if (others.length > 0) throw new UsageError(`several questions begin with ${oneLine(id, 60)}`, 'Give more of the id.')
  return row
}

/** @throws UsageError */
export async function showApproval(id: string, { json }: Flags, output: Output): Promise<number> {
  const { row, cwd } = await withStore(output, async (store) => {
    const row = await approvalNamed(store, id)
    return { row, cwd: (await store.session(row.sessionId))?.cwd ?? '' }
  })
  const { request, asks, diff, session } = asked(row)
  const { text } = questionOf(request, { asks, diff, covers: session?.covers, whole: true }, lookOf(process.stdout))
  const state =
    row.status === 'pending'
      ? `Asked at ${localTime(row.createdAt)}.`
      : row.status === 'expired'
        ? 'It has expired.'
        : `It was answered: ${row.answer?.answer ?? row.status}.`
  const how = row.status === 'pending' ? [`mulligan approvals allow ${row.id.slice(0, SHORT)}, or deny ${row.id.slice(0, SHORT)}`] : []
  print(output, json, { approval: forPrograms(row) }, [
    ...text.trim().split('\n'),
    `  In ${fromHome(cwd)}, session ${row.sessionId}.`,
    `  ${state}`,
    ...how,
  ])
  return EXIT.ok
}

export interface AnswerFlags extends Flags {
  readonly forSession?: boolean
  readonly always?: boolean
  readonly reason?: string
  /** False with `--no-run`. */
  readonly run?: boolean
  readonly jsonStream?: boolean
}

function answerIn(kind: 'allow' | 'deny', { forSession, always, reason }: AnswerFlags): StoredAnswer {
  if (kind === 'deny') return { answer: 'no', ...(reason !== undefined && { reason }) }
  return { answer: always ? 'always' : forSession ? 'session' : 'once' }
}

/** @returns the exit code of the turn, if it goes on here. @throws UsageError */
export async function answerApproval(kind: 'allow' | 'deny', id: string, flags: AnswerFlags, output: Output): Promise<number> {
  const answer = answerIn(kind, flags)
  const { row, left, busy, cwd } = await withStore(output, async (store) => {
    const row = await approvalNamed(store, id)
    const { session, always } = asked(row)
    if ((answer.answer === 'session' && !session) || (answer.answer === 'always' && !always))
      throw new UsageError(
        `this call can't be allowed ${answer.answer === 'session' ? 'for the session' : 'permanently'}`,
        'Allow it once, without the flag.',
      )
    if (row.status === 'expired')
      throw new UsageError('this question has expired', `mulligan sessions resume ${row.sessionId} --park asks again, as things are now.`)
    if (!(await store.answer(row.id, answer)))
      throw new UsageError('this question was answered before, or its turn has ended', 'mulligan approvals list --all shows the answer.')
    const left = (await store.approvals({ turnId: row.turnId, status: 'pending' })).length
    return { row, left, busy: await store.claimed(row.sessionId), cwd: (await store.session(row.sessionId))?.cwd }
  })
  if (left > 0 || flags.run === false || busy !== undefined) {
    const why =
      left > 0
        ? `Its turn waits for ${left} more.`
        : busy === undefined
          ? `mulligan sessions resume ${row.sessionId} continues it.`
          : `It continues in ${busy}.`
    print(output, flags.json, { approval: { id: row.id, answer }, waiting: left }, [`${kind === 'allow' ? 'Allowed' : 'Denied'}. ${why}`])
    return EXIT.ok
  }
  const { runCommand } = await import('./run.ts')
  return runCommand(
    undefined,
    {
      session: row.sessionId,
      goesOn: true,
      park: true,
      ...(cwd !== undefined && { cwd }),
      ...(flags.json && { json: true }),
      ...(flags.jsonStream && { jsonStream: true }),
    },
    output,
  )
}
