/** The heading of a session: title, folder, model, context, connection, and what can be done with it. */
import { type FormEvent, useRef, useState } from 'react'
import { api } from '../api/client.ts'
import type { Connection } from '../api/stream.ts'
import type { SessionDetails } from '../api/types.ts'
import type { Conversation } from '../conversation/conversation.ts'
import { useNotices } from '../ui/notices.tsx'
import { go, START, sessionHref, timelineHref } from '../ui/route.ts'
import { oneLine } from '../ui/safe-text.ts'
import { tokens } from '../ui/time.ts'

interface SessionHeadProps {
  readonly id: string
  readonly session: SessionDetails | undefined
  readonly conversation: Conversation
  readonly connection: Connection
  readonly timeline: string | undefined
  readonly onChanged: () => void
}

const CONNECTIONS: Readonly<Partial<Record<Connection, string>>> = { connecting: 'Connecting…', lost: 'Connection lost. Trying again…' }

export function SessionHead({ id, session, conversation, connection, timeline, onChanged }: SessionHeadProps) {
  const [editing, setEditing] = useState<string>()
  const [deleting, setDeleting] = useState(false)
  const menu = useRef<HTMLDetailsElement>(null)
  const { attempt } = useNotices()
  const { turns, contextUsed, contextTokens } = conversation
  const last = turns.at(-1)
  const title = session?.title || last?.prompt || 'New session'
  const cwd = session?.cwd ?? conversation.cwd ?? ''
  const folder = /[^\\/]*[\\/]*$/.exec(cwd)?.[0] ?? ''
  const provider = /^[\w-]+\//.exec(last?.model ?? '')?.[0] ?? ''

  const rename = async (event: FormEvent): Promise<void> => {
    event.preventDefault()
    const name = editing?.trim() ?? ''
    setEditing(undefined)
    if (name === '' || name === title) return
    await attempt(() => api.rename(id, name))
    onChanged()
  }
  const close = (): void => {
    if (menu.current) menu.current.open = false
    setDeleting(false)
  }
  const remove = async (): Promise<void> => {
    await attempt(() => api.remove(id).then(() => go(START)))
    setDeleting(false)
    onChanged()
  }

  return (
    <header className="session-head">
      <a className="back" href={START} aria-label="All sessions">
        ←
      </a>
      <div className="session-title">
        {editing === undefined ? (
          <h1 title={oneLine(title, 1000)}>{oneLine(title, 140)}</h1>
        ) : (
          <form
            onSubmit={(event) => void rename(event)}
            onKeyDown={(event) => {
              if (event.key === 'Escape') setEditing(undefined)
            }}
          >
            {/* biome-ignore lint/a11y/noAutofocus: the person has just asked to rename */}
            <input aria-label="Title" value={editing} maxLength={200} autoFocus onChange={(event) => setEditing(event.target.value)} />
            <button type="submit">Save</button>
            <button type="button" className="quiet" onClick={() => setEditing(undefined)}>
              Cancel
            </button>
          </form>
        )}
        <p className="soft">
          <span className="mono path" title={cwd}>
            <span className="parent">{oneLine(cwd.slice(0, cwd.length - folder.length), 200)}</span>
            <span>{oneLine(folder, 100)}</span>
          </span>
          {last && (
            <span className="model" title={`on ${last.where}`}>
              <span className="provider">{provider}</span>
              {oneLine(last.model.slice(provider.length), 60)}
              <span className="where"> on {oneLine(last.where, 40)}</span>
            </span>
          )}
          {contextUsed !== undefined && contextTokens !== undefined && (
            <span className="context">
              <meter
                value={contextUsed}
                max={contextTokens}
                high={contextTokens * 0.8}
                aria-label={`Context: ${contextUsed} of ${contextTokens} tokens`}
              />{' '}
              {tokens(contextUsed)} / {tokens(contextTokens)}
            </span>
          )}
          {CONNECTIONS[connection] && <span className="lost">{CONNECTIONS[connection]}</span>}
        </p>
      </div>
      <nav className="views" aria-label="View of the session">
        <a href={sessionHref(id)} aria-current={timeline === undefined ? 'page' : undefined}>
          Chat
        </a>
        {last && (
          <a href={timelineHref(id, timeline ?? last.id)} aria-current={timeline === undefined ? undefined : 'page'}>
            Timeline
          </a>
        )}
        <details
          className="menu"
          ref={menu}
          onBlur={(event) => {
            if (!event.currentTarget.contains(event.relatedTarget)) close()
          }}
          onKeyDown={(event) => {
            if (event.key === 'Escape') close()
          }}
        >
          <summary aria-label="More">⋯</summary>
          <div>
            <button
              type="button"
              className="quiet"
              onClick={() => {
                setEditing(title.slice(0, 200))
                close()
              }}
            >
              Rename
            </button>
            {deleting ? (
              <button type="button" className="bad" onClick={() => void remove()}>
                Delete for good
              </button>
            ) : (
              <button type="button" className="quiet" onClick={() => setDeleting(true)}>
                Delete…
              </button>
            )}
          </div>
        </details>
      </nav>
    </header>
  )
}
