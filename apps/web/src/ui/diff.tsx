/** Shows a unified diff with line numbers. */
import { useMemo, useState } from 'react'
import { type DiffLine, diffLines } from './diff-lines.ts'
import { safeText } from './safe-text.ts'

const FIRST = 200
const MAX_PARSED = 2_000_000
const MAX_LINE = 2000
/** What line numbers and signs say already, and of a single file the caption too. */
const HEADERS = /^(?:--- |\+\+\+ |index )/
const CAPTION = /^(?:--- |\+\+\+ |index |diff )/

const SIGNS: Readonly<Record<DiffLine['kind'], string>> = { file: '', hunk: '', add: '+', remove: '−', same: '' }

export function Diff({ text }: { readonly text: string }) {
  const names = useMemo(
    () => [...text.slice(0, MAX_PARSED).matchAll(/^\+\+\+ (?:b\/)?([^\t\n]{1,500})/gm)].map(([, name = '']) => name),
    [text],
  )
  const lines = useMemo(() => {
    const said = names.length === 1 ? CAPTION : HEADERS
    return diffLines(text.slice(0, MAX_PARSED)).filter(({ kind, text: one }) => !(kind === 'file' && said.test(one)))
  }, [text, names])
  const [shown, setShown] = useState(FIRST)
  const count = (kind: DiffLine['kind']): number => lines.filter((line) => line.kind === kind).length
  return (
    <figure className="diff">
      <figcaption>
        <span className="mono">{safeText(names.length === 1 ? (names[0] ?? '') : `${names.length} files`)}</span>
        <span className="counts">
          <ins>+{count('add')}</ins> <del>−{count('remove')}</del>
        </span>
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long diff is scrolled with the keyboard */}
      <section className="scroll" tabIndex={0} aria-label="Diff">
        <table>
          <tbody>
            {lines.slice(0, shown).map((line, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a line has no other identity
              <tr key={at} className={line.kind}>
                <td className="number">{line.before ?? ''}</td>
                <td className="number">{line.after ?? ''}</td>
                <td className="sign">{SIGNS[line.kind]}</td>
                <td className="line">{safeText(line.text.slice(0, MAX_LINE)) + (line.text.length > MAX_LINE ? '…' : '')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {lines.length > shown && (
        <button type="button" className="quiet" onClick={() => setShown(shown + 2000)}>
          Show more ({lines.length - shown} lines left)
        </button>
      )}
    </figure>
  )
}
