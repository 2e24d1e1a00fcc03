import { useState } from 'react'

/** Copies a text to the clipboard. */
export function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const [done, setDone] = useState(false)
  const copy = (): void => {
    navigator.clipboard?.writeText(text).then(
      () => {
        setDone(true)
        setTimeout(() => setDone(false), 1500)
      },
      () => undefined,
    )
  }
  return (
    <button type="button" className="quiet small" onClick={copy}>
      {done ? 'Copied' : label}
    </button>
  )
}
