/** The start: a first message in a folder, with a model. */
import { type FormEvent, useEffect, useState } from 'react'
import { api } from '../api/client.ts'
import type { Model } from '../api/types.ts'
import { useNotices } from '../ui/notices.tsx'
import { go, sessionHref } from '../ui/route.ts'

const FOLDER = 'mulligan.folder'

export function StartPage({ onChanged }: { readonly onChanged: () => void }) {
  const [folders, setFolders] = useState<readonly string[]>([])
  const [models, setModels] = useState<readonly Model[]>([])
  const [cwd, setCwd] = useState(() => sessionStorage.getItem(FOLDER) ?? '')
  const [model, setModel] = useState('')
  const [baseUrl, setBaseUrl] = useState('')
  const [prompt, setPrompt] = useState('')
  const [busy, setBusy] = useState(false)
  const { attempt } = useNotices()

  useEffect(() => {
    api.sessions({ limit: 50 }).then(
      ({ sessions }) => {
        const known = [...new Set(sessions.map((one) => one.cwd))].slice(0, 12)
        setFolders(known)
        setCwd((now) => now || known[0] || '')
      },
      () => undefined,
    )
    api.models().then(
      ({ models: found }) => setModels(found),
      () => undefined,
    )
  }, [])

  const start = async (event: FormEvent): Promise<void> => {
    event.preventDefault()
    if (busy || prompt.trim() === '' || cwd.trim() === '') return
    setBusy(true)
    sessionStorage.setItem(FOLDER, cwd.trim())
    const named = { ...(model.trim() && { model: model.trim() }), ...(baseUrl.trim() && { baseUrl: baseUrl.trim() }) }
    const made = await attempt(() => api.create({ cwd: cwd.trim(), ...named }))
    if (made) {
      const sent = await attempt(() => api.send(made.id, prompt.trim(), crypto.randomUUID()))
      // What could not be sent waits in the session's own field.
      if (!sent) sessionStorage.setItem(`mulligan.draft.${made.id}`, prompt)
      onChanged()
      go(sessionHref(made.id))
    }
    setBusy(false)
  }

  return (
    <div className="start">
      <form className="column" onSubmit={(event) => void start(event)}>
        <h1>What should Mulligan do?</h1>
        <textarea
          id="first-message"
          className="first"
          value={prompt}
          rows={3}
          aria-label="First message"
          placeholder="Why does npm test fail?"
          onChange={(event) => setPrompt(event.target.value)}
          onKeyDown={(event) => {
            // As in a session. An empty folder gets the focus.
            if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
            event.preventDefault()
            event.currentTarget.form?.requestSubmit()
          }}
        />
        <div className="choices">
          <label>
            Folder
            <input value={cwd} list="folders" required placeholder="/path/to/project" onChange={(event) => setCwd(event.target.value)} />
          </label>
          <label>
            Model
            <input value={model} list="models" placeholder="default" onChange={(event) => setModel(event.target.value)} />
          </label>
          <label>
            Model server
            <input value={baseUrl} type="url" placeholder="default" onChange={(event) => setBaseUrl(event.target.value)} />
          </label>
        </div>
        <datalist id="folders">
          {folders.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
        <datalist id="models">
          {models.map(({ id, server }) => (
            <option key={id} value={id}>
              {server}
            </option>
          ))}
        </datalist>
        <div className="last">
          <p className="soft small">The folder is on the machine of the server. Mulligan works in it.</p>
          <button type="submit" className="primary" disabled={busy || prompt.trim() === '' || cwd.trim() === ''}>
            {busy ? 'Starting…' : 'Start'}
          </button>
        </div>
      </form>
    </div>
  )
}
