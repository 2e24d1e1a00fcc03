/** Shows long text in parts: a browser cannot lay out a line of megabytes. */
import { useState } from 'react'
import { safeText, size } from './safe-text.ts'

const FIRST = 20_000
const MORE = 200_000

interface ClipProps {
  readonly text: string
  readonly first?: number
  readonly className?: string
}

export function Clip({ text, first = FIRST, className = 'text' }: ClipProps) {
  const [shown, setShown] = useState(first)
  const left = text.length - shown
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long text is scrolled with the keyboard */}
      <pre className={className} tabIndex={0}>
        {safeText(text.slice(0, shown))}
        {left > 0 && '…'}
      </pre>
      {left > 0 && (
        <button type="button" className="quiet" onClick={() => setShown(shown + MORE)}>
          Show more ({size(left)} left)
        </button>
      )}
    </>
  )
}
