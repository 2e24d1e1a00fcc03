/** The sessions of the store, latest first, with search over titles and messages, which puts the best first. */
import { type RefObject, useCallback, useEffect, useState } from 'react'
import { api, ServerError } from '../api/client.ts'
import type { Session } from '../api/types.ts'
import { sessionHref } from '../ui/route.ts'
import { oneLine, pieces, sentence } from '../ui/safe-text.ts'
import { dayGroup, fullTime, shortTime } from '../ui/time.ts'

const PAGE = 60
const REFRESH = 4000
const TYPING = 200

interface SessionListProps {
  readonly current: string | undefined
  /** Changes when something happened that the list should show. */
  readonly version: number
  readonly search: RefObject<HTMLInputElement | null>
}

export function SessionList({ current, version, search }: SessionListProps) {
  const [query, setQuery] = useState('')
  const [limit, setLimit] = useState(PAGE)
  const [sessions, setSessions] = useState<readonly Session[]>()
  const [more, setMore] = useState(false)
  const [error, setError] = useState<string>()

  const load = useCallback(async (): Promise<void> => {
    try {
      const { sessions: found, next } = await api.sessions({ q: query.trim(), limit })
      setSessions(found)
      setMore(next !== undefined)
      setError(undefined)
    } catch (failure) {
      setError(failure instanceof ServerError ? failure.message : 'The sessions cannot be shown.')
    }
  }, [query, limit])

  // biome-ignore lint/correctness/useExhaustiveDependencies: loads again with each version
  useEffect(() => {
    const typing = setTimeout(() => void load(), query === '' ? 0 : TYPING)
    const refresh = setInterval(() => {
      if (document.visibilityState === 'visible') void load()
    }, REFRESH)
    return () => {
      clearTimeout(typing)
      clearInterval(refresh)
    }
  }, [load, version])

  const groups = Map.groupBy(sessions ?? [], ({ updatedAt }) => (query.trim() === '' ? dayGroup(updatedAt) : 'Results'))
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  return (
    <div className="sessions">
      <search>
        <input
          type="search"
          ref={search}
          value={query}
          placeholder="Search sessions"
          aria-label="Search sessions"
          aria-keyshortcuts="/"
          onChange={(event) => setQuery(event.target.value)}
        />
      </search>
      {error && (
        <p className="note error" role="alert">
          {sentence(error)}
        </p>
      )}
      <nav aria-label="Sessions" data-part="list">
        {sessions?.length === 0 && <p className="soft empty">{query === '' ? 'No sessions yet.' : 'Nothing found.'}</p>}
        {[...groups].map(([day, list]) => (
          <section key={day} aria-label={day}>
            <h2>{day}</h2>
            <ul>
              {list.map((session) => (
                <li key={session.id}>
                  <Entry session={session} words={words} isCurrent={session.id === current} />
                </li>
              ))}
            </ul>
          </section>
        ))}
        {more && (
          <button type="button" className="quiet" onClick={() => setLimit(limit + PAGE)}>
            Show more
          </button>
        )}
      </nav>
    </div>
  )
}

const STATUS: Readonly<Record<Session['status'], string>> = { idle: '', running: 'running', waiting: 'waiting for you' }

interface EntryProps {
  readonly session: Session
  /** Lower case; they are marked where they were found. */
  readonly words: readonly string[]
  readonly isCurrent: boolean
}

function Entry({ session, words, isCurrent }: EntryProps) {
  const { id, title, cwd, updatedAt, turns, status, snippet = '' } = session
  return (
    <a href={sessionHref(id)} className={`session is-${status}`} aria-current={isCurrent ? 'page' : undefined} data-nav>
      <span className="title">{title === '' ? 'New session' : <Marked text={oneLine(title, 90)} words={words} />}</span>
      {!title.includes(snippet) && (
        <span className="soft found">
          <Marked text={oneLine(snippet, 160)} words={words} />
        </span>
      )}
      <span className="soft about">
        {STATUS[status] !== '' && <b className="state">{STATUS[status]}</b>}
        <span className="path">{oneLine(cwd.split(/[\\/]/).pop() || cwd, 40)}</span>
        {status === 'idle' && (
          <span>
            {turns} {turns === 1 ? 'turn' : 'turns'}
          </span>
        )}
        <time dateTime={new Date(updatedAt).toISOString()} title={fullTime(updatedAt)}>
          {shortTime(updatedAt)}
        </time>
      </span>
    </a>
  )
}

const Marked = ({ text, words }: { readonly text: string; readonly words: readonly string[] }) =>
  pieces(text, words).map(({ at, piece, isFound }) => (isFound ? <mark key={at}>{piece}</mark> : piece))
