/** What a turn did, from the engine: changes with undo, failures, and effects whose outcome is unknown. */
import { useState } from 'react'
import { api } from '../api/client.ts'
import type { Changes } from '../api/types.ts'
import type { Ledger } from '../conversation/conversation.ts'
import { Diff } from '../ui/diff.tsx'
import { useNotices } from '../ui/notices.tsx'
import { oneLine } from '../ui/safe-text.ts'

interface LedgerProps {
  readonly ledger: Ledger
  readonly sessionId: string
  readonly turnId: string
  readonly canUndo: boolean
}

export function LedgerView({ ledger, sessionId, turnId, canUndo }: LedgerProps) {
  const { changed, failed, unknown } = ledger
  if (changed.length + failed.length + unknown.length === 0) return null
  return (
    <section className="ledger" aria-label="What this turn did">
      <Entries tone="ok" title="Changed" entries={changed} />
      <Entries tone="bad" title="Failed" entries={failed} />
      <Entries tone="unknown" title="Outcome unknown" entries={unknown} />
      {changed.some(({ effect }) => effect === 'write') && <ChangesOfTurn {...{ sessionId, turnId, canUndo }} />}
    </section>
  )
}

interface EntriesProps {
  readonly tone: string
  readonly title: string
  readonly entries: Ledger['changed']
}

function Entries({ tone, title, entries }: EntriesProps) {
  if (entries.length === 0) return null
  const lines = [...new Set(entries.map(({ tool, target, words, says }) => JSON.stringify([tool, target || words || '', says ?? ''])))]
  return (
    <div className={`entries ${tone}`}>
      <h4>{title}</h4>
      <ul>
        {lines.map((line) => {
          const [tool, target, says] = JSON.parse(line) as [string, string, string]
          return (
            <li key={line}>
              <code>{oneLine(target || tool, 300)}</code>
              {target && <span className="soft"> {oneLine(tool, 64)}</span>}
              {says && <span className="says"> {oneLine(says, 300)}</span>}
            </li>
          )
        })}
      </ul>
    </div>
  )
}

function ChangesOfTurn({ sessionId, turnId, canUndo }: Omit<LedgerProps, 'ledger'>) {
  const [changes, setChanges] = useState<Changes>()
  const [asking, setAsking] = useState(false)
  const { attempt, tell } = useNotices()
  const show = async (): Promise<void> => setChanges(changes ? undefined : await attempt(() => api.changes(sessionId, turnId)))
  const undo = async (): Promise<void> => {
    setAsking(false)
    const done = await attempt(() => api.undo(sessionId, turnId))
    if (!done) return
    const left = done.left.map(({ path, why }) => `${path} (${why})`)
    tell(left.length === 0 ? 'The changes were undone.' : `Left as they are: ${oneLine(left.join(', '), 400)}`)
    setChanges(await attempt(() => api.changes(sessionId, turnId)))
  }
  return (
    <div className="changes">
      <div className="answers">
        <button type="button" className="quiet" aria-expanded={changes !== undefined} onClick={() => void show()}>
          {changes ? 'Hide changes' : 'Show changes'}
        </button>
        {canUndo && !changes?.undone && !asking && (
          <button type="button" className="quiet" onClick={() => setAsking(true)}>
            Undo changes
          </button>
        )}
        {asking && (
          <>
            <span>Restore these files as they were before this turn?</span>
            <button type="button" className="bad" onClick={() => void undo()}>
              Undo
            </button>
            <button type="button" className="quiet" onClick={() => setAsking(false)}>
              Cancel
            </button>
          </>
        )}
        {changes?.undone && <span className="badge">undone</span>}
      </div>
      {changes?.files.map(({ path, change, diff }) =>
        diff ? (
          <Diff key={path} text={diff} />
        ) : (
          <p key={path}>
            <code>{oneLine(path, 300)}</code> <span className="soft">{change}</span>
          </p>
        ),
      )}
      {changes?.files.length === 0 && <p className="soft">No file differs.</p>}
    </div>
  )
}
