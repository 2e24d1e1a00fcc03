/** The panel that is open, if there is one. */
import type { Panel } from './panel.ts'

/** Makes a panel. `done` closes it, with what was chosen; `changed` draws it again. */
export type MakePanel<T> = (done: (value?: T) => void, changed: () => void) => Panel

export function createPanels(changed: () => void) {
  let current: Panel | undefined
  let before: Promise<unknown> = Promise.resolve()

  function show<T>(make: MakePanel<T>, signal: AbortSignal): Promise<T | undefined> {
    return new Promise((resolve) => {
      const done = (value?: T): void => {
        signal.removeEventListener('abort', onAbort)
        current = undefined
        changed()
        resolve(value)
      }
      const onAbort = (): void => done()
      if (signal.aborted) return resolve(undefined)
      signal.addEventListener('abort', onAbort, { once: true })
      current = make(done, changed)
      changed()
    })
  }

  return {
    current: (): Panel | undefined => current,
    /** Opens a panel once the one before it is closed. @param signal closes it */
    open: <T>(make: MakePanel<T>, signal: AbortSignal): Promise<T | undefined> => {
      const opened = before.then(() => show(make, signal))
      before = opened.catch(() => undefined)
      return opened
    },
  }
}
