/** Chooses the session that a run continues. */
import { existsSync } from 'node:fs'
import type { SessionRow, Store } from '@mulligan/agent'
import { nearest } from '@mulligan/core/executor'
import { oneLine, UsageError } from '@mulligan/host/light'
import { localTime } from './ui/text.ts'

const LISTED = 5

/** Returns `undefined` for a new session. @throws UsageError */
export async function chooseSession(
  store: Store,
  cwd: string,
  { session, last = false }: { readonly session?: string; readonly last?: boolean },
): Promise<string | undefined> {
  if (session !== undefined) return namedSession(store, cwd, session)
  if (!last) return undefined
  return (await latestSession(store, cwd)).id
}

/** Returns the latest session of a folder. @throws UsageError */
export async function latestSession(store: Store, cwd: string): Promise<SessionRow> {
  const [latest] = await store.sessions({ cwd, limit: 1 })
  if (!latest)
    throw new UsageError(
      `there is no session in ${cwd} yet`,
      'mulligan chat or mulligan "what to do" starts one; --cwd names another folder.',
    )
  return latest
}

async function namedSession(store: Store, cwd: string, asked: string): Promise<string> {
  const { id, cwd: folder } = await findSession(store, cwd, asked)
  if (folder !== cwd && existsSync(folder))
    throw new UsageError(`session ${id} belongs to another folder: ${folder}`, `Add --cwd ${JSON.stringify(folder)}`)
  return id
}

/** Finds a session by its id or an unambiguous prefix of it. @throws UsageError */
export async function findSession(store: Store, cwd: string, asked: string): Promise<SessionRow> {
  const whole = await store.session(asked)
  if (whole) return whole
  const begun = asked === '' ? [] : await store.sessions({ idPrefix: asked, limit: LISTED + 1 })
  const [only, another] = begun
  if (only && another === undefined) return only
  if (only)
    throw new UsageError(
      `${begun.length > LISTED ? 'several' : begun.length} sessions begin with ${oneLine(asked, 80)}`,
      ['Use more of the id:', ...begun.slice(0, LISTED).map((one) => `  ${described(one)}`)].join('\n'),
    )
  throw await unknownSession(store, cwd, asked)
}

async function unknownSession(store: Store, cwd: string, id: string): Promise<UsageError> {
  const all = await store.sessions({ limit: 1000 })
  const here = all.filter((one) => one.cwd === cwd)
  const [near] = nearest(
    id,
    [...here, ...all].map((one) => one.id),
    1,
  )
  const listed = (here.length > 0 ? here : all).slice(0, LISTED)
  const hint =
    listed.length === 0
      ? 'There is no session yet: mulligan "…" starts one.'
      : ['The latest sessions are:', ...listed.map((one) => `  ${described(one)}`), 'or --last for the latest of this folder.'].join('\n')
  return new UsageError(`there is no session ${oneLine(id, 80)}${near ? `; did you mean ${near}?` : ''}`, hint)
}

const described = ({ id, title, updatedAt }: SessionRow): string => `${id}  ${localTime(updatedAt)}  ${oneLine(title, 60)}`
