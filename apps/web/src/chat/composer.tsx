/** Where the person writes. The draft survives a reload. */
import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { api } from '../api/client.ts'
import { useNotices } from '../ui/notices.tsx'

interface ComposerProps {
  readonly sessionId: string
  readonly running: boolean
  readonly waiting: boolean
}

const draftKey = (sessionId: string): string => `mulligan.draft.${sessionId}`

export function Composer({ sessionId, running, waiting }: ComposerProps) {
  const [text, setText] = useState(() => sessionStorage.getItem(draftKey(sessionId)) ?? '')
  const [sending, setSending] = useState(false)
  const [stopping, setStopping] = useState(false)
  const { attempt, say } = useNotices()
  /** Stays the same until a message was accepted, so that a repeat after a broken connection starts no second turn. */
  const key = useRef(crypto.randomUUID())

  useEffect(() => sessionStorage.setItem(draftKey(sessionId), text), [sessionId, text])
  useEffect(() => {
    if (!running) setStopping(false)
  }, [running])
  const blocked = running && !waiting
  const send = async (event?: FormEvent): Promise<void> => {
    event?.preventDefault()
    const prompt = text.trim()
    if (prompt === '' || sending || blocked) return
    setSending(true)
    const sent = await attempt(() => api.send(sessionId, prompt, key.current))
    setSending(false)
    if (!sent) return
    key.current = crypto.randomUUID()
    setText('')
    say('Sent.')
  }
  const stop = async (): Promise<void> => {
    setStopping(true)
    const stopped = await attempt(() => api.abort(sessionId))
    if (!stopped?.aborted) setStopping(false)
  }
  const onKey = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    void send()
  }

  return (
    <form className="composer" onSubmit={(event) => void send(event)} aria-label="Message">
      {waiting && <p className="soft small">A question is open. A new message declines it.</p>}
      <div className="field">
        <textarea
          id="message"
          rows={1}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKey}
          placeholder={blocked ? 'The turn is running…' : 'Write a message'}
          aria-label="Message"
          aria-describedby="message-help"
        />
        {running && (
          <button type="button" className="bad" onClick={() => void stop()} disabled={stopping}>
            {stopping ? 'Stopping…' : 'Stop'}
          </button>
        )}
        {!blocked && (
          <button type="submit" className="primary" disabled={sending || text.trim() === ''}>
            Send
          </button>
        )}
      </div>
      <p id="message-help" className="hidden">
        Enter sends, Shift and Enter begins a new line.
      </p>
    </form>
  )
}
