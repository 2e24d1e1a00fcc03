/** Messages about what the person did, and a live region that says to screen readers what happens. */
import { createContext, type ReactNode, useCallback, useContext, useMemo, useRef, useState } from 'react'
import { ServerError } from '../api/client.ts'
import { sentence } from './safe-text.ts'

interface Notice {
  readonly id: number
  readonly text: string
  readonly hint?: string | undefined
  readonly isError: boolean
}

export interface Notices {
  readonly say: (text: string) => void
  readonly tell: (text: string) => void
  /** Runs an action of the person, and shows its failure. @returns undefined after a failure */
  readonly attempt: <T>(action: () => Promise<T>) => Promise<T | undefined>
}

const Context = createContext<Notices>({ say: () => undefined, tell: () => undefined, attempt: (action) => action() })
export const useNotices = (): Notices => useContext(Context)

const SHOWN_FOR = 8000

export function NoticeArea({ children }: { readonly children: ReactNode }) {
  const [notices, setNotices] = useState<readonly Notice[]>([])
  const [said, setSaid] = useState('')
  const next = useRef(0)
  const drop = useCallback((id: number) => setNotices((list) => list.filter((one) => one.id !== id)), [])
  const show = useCallback(
    (notice: Omit<Notice, 'id'>) => {
      next.current += 1
      const id = next.current
      setNotices((list) => [...list.slice(-3), { ...notice, id }])
      setTimeout(() => drop(id), SHOWN_FOR)
    },
    [drop],
  )
  const value = useMemo<Notices>(
    () => ({
      say: setSaid,
      tell: (text) => show({ text, isError: false }),
      attempt: async (action) => {
        try {
          return await action()
        } catch (error) {
          const hint = error instanceof ServerError ? error.hint : undefined
          show({ text: sentence((error as Error).message), hint, isError: true })
          return undefined
        }
      },
    }),
    [show],
  )
  return (
    <Context value={value}>
      {children}
      <p className="hidden" role="status" aria-live="polite">
        {said}
      </p>
      <section className="notices" aria-label="Messages" aria-live="polite">
        {notices.map(({ id, text, hint, isError }) => (
          <div key={id} className={isError ? 'notice error' : 'notice'}>
            <p>
              {text}
              {hint && <span className="soft"> {hint}</span>}
            </p>
            <button type="button" className="quiet small" aria-label="Dismiss" onClick={() => drop(id)}>
              ✕
            </button>
          </div>
        ))}
      </section>
    </Context>
  )
}
