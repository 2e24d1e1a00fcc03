/** The frame of the page: sessions on the left, what is open on the right. */
import { lazy, Suspense, useCallback, useEffect, useRef, useState } from 'react'
import { whenUnauthorized } from './api/client.ts'
import { setToken, takeToken } from './api/token.ts'
import { SessionPage } from './session/session-page.tsx'
import { SessionList } from './sessions/session-list.tsx'
import { StartPage } from './sessions/start-page.tsx'
import { SHORTCUTS, useKeys } from './ui/keys.ts'
import { NoticeArea } from './ui/notices.tsx'
import { go, RELIABILITY, routeOf, START, sessionHref, useHash } from './ui/route.ts'
import { useTheme } from './ui/theme.ts'

const ReliabilityPage = lazy(() => import('./reliability/reliability-page.tsx'))

export function App() {
  const [token, setKnown] = useState(takeToken)
  useEffect(() => {
    whenUnauthorized(() => setKnown(undefined))
    const onHash = (): void => setKnown(takeToken())
    addEventListener('hashchange', onHash)
    return () => removeEventListener('hashchange', onHash)
  }, [])
  return <NoticeArea>{token === undefined ? <TokenForm onToken={setKnown} /> : <Frame />}</NoticeArea>
}

function TokenForm({ onToken }: { readonly onToken: (token: string) => void }) {
  const [text, setText] = useState('')
  return (
    <main className="token">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          // The whole address that the server prints may be pasted too.
          const token = /token=([^&\s]+)/.exec(text)?.[1] ?? text.trim()
          if (token === '') return
          setToken(token)
          onToken(token)
        }}
      >
        <h1>Mulligan</h1>
        <p>
          This page needs the access token of its server. <code>mulligan serve</code> prints an address that contains it.
        </p>
        <label>
          Access token
          <input type="password" autoComplete="current-password" value={text} onChange={(event) => setText(event.target.value)} />
        </label>
        <button type="submit" className="primary">
          Continue
        </button>
      </form>
    </main>
  )
}

function Frame() {
  const route = routeOf(useHash())
  const [version, setVersion] = useState(0)
  const changed = useCallback(() => setVersion((before) => before + 1), [])
  const [theme, nextTheme] = useTheme()
  const search = useRef<HTMLInputElement>(null)
  const help = useRef<HTMLDialogElement>(null)
  const session = route.page === 'session' ? route.id : undefined

  useKeys({
    '/': () => search.current?.focus(),
    c: () => document.querySelector<HTMLElement>('#message, #first-message')?.focus(),
    n: () => {
      go(START)
      requestAnimationFrame(() => document.querySelector<HTMLElement>('#first-message')?.focus())
    },
    t: () => {
      if (session === undefined) return
      if (route.page === 'session' && route.turn !== undefined) go(sessionHref(session))
      else document.querySelector<HTMLAnchorElement>('.views a[href*="/timeline/"]')?.click()
    },
    r: () => go(RELIABILITY),
    '?': () => help.current?.showModal(),
    Escape: () => {
      const opened = document.activeElement?.closest('[aria-expanded=true]')
      if (opened instanceof HTMLElement) opened.click()
      else if (route.page === 'session' && route.turn !== undefined) go(sessionHref(route.id))
      else (document.activeElement as HTMLElement | null)?.blur()
    },
  })

  return (
    <div className={`frame at-${route.page}`}>
      <button type="button" className="skip" onClick={() => document.querySelector<HTMLElement>('#main')?.focus()}>
        Skip to content
      </button>
      <aside className="side" aria-label="Sessions and pages">
        <div className="brand">
          <a href={START} aria-label="Mulligan, start">
            <svg viewBox="0 0 32 32" aria-hidden="true">
              <path d="M11 25V6l12 5-12 5" />
              <ellipse cx="13" cy="26" rx="8" ry="2.4" />
            </svg>
            Mulligan
          </a>
          <a className="new" href={START} aria-keyshortcuts="n">
            New
          </a>
        </div>
        <SessionList current={session} version={version} search={search} />
        <footer>
          <a href={RELIABILITY} aria-current={route.page === 'reliability' ? 'page' : undefined}>
            Reliability
          </a>
          <button type="button" className="quiet" onClick={nextTheme}>
            <span className="hidden">Colours: </span>
            {theme === 'system' ? '◐ Auto' : theme === 'light' ? '○ Light' : '● Dark'}
          </button>
          <button type="button" className="quiet" onClick={() => help.current?.showModal()} aria-label="Keyboard shortcuts">
            ?
          </button>
        </footer>
      </aside>
      <main id="main" data-part="main" tabIndex={-1}>
        {route.page === 'session' ? (
          <SessionPage key={route.id} id={route.id} turn={route.turn} onChanged={changed} />
        ) : route.page === 'reliability' ? (
          <>
            <a className="back" href={START}>
              ← Sessions
            </a>
            <Suspense fallback={<p className="soft empty">Loading…</p>}>
              <ReliabilityPage />
            </Suspense>
          </>
        ) : (
          <StartPage onChanged={changed} />
        )}
      </main>
      <dialog ref={help} aria-labelledby="help-title">
        <h2 id="help-title">Keyboard</h2>
        <dl className="shortcuts">
          {SHORTCUTS.map(([keys, what]) => (
            <div key={keys}>
              <dt>
                {keys.split(' ').map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
        <form method="dialog">
          <button type="submit">Close</button>
        </form>
      </dialog>
    </div>
  )
}
