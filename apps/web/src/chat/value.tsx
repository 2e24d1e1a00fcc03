/** Shows the input of a call: one line per parameter, text as text, everything else as JSON. */
import { Clip } from '../ui/clip.tsx'
import { oneLine } from '../ui/safe-text.ts'

const FIRST = 4000

export function Input({ input }: { readonly input: unknown }) {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return <Clip text={textOf(input)} first={FIRST} />
  const entries = Object.entries(input)
  if (entries.length === 0) return <p className="soft">No parameters.</p>
  return (
    <dl className="parameters">
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt>{oneLine(name, 80)}</dt>
          <dd>
            <Clip text={textOf(value)} first={FIRST} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

export const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value, undefined, 2) ?? String(value))
