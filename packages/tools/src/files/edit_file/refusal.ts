/** What the model is told of an edit that can't be made. Pure. */
import { ModelRetry, type SuggestedCall } from '@mulligan/core'
import { closestRegion } from './closest.ts'
import { type Edit, type Problem, plan } from './plan.ts'

const SHOWN_LINES = 20
const SHOWN_CHARS = 200
const SHOWN_PLACES = 10

export interface Refused {
  readonly path: string
  readonly text: string
  readonly edits: readonly Edit[]
  readonly index: number
  readonly problem: Problem
}

export function refusal({ path, text, edits, index, problem }: Refused): ModelRetry {
  const name = `edits[${index}]`
  const old = edits[index]?.old_text ?? ''
  const retry = (says: string, constraint: string, more: Record<string, unknown> = {}): ModelRetry =>
    new ModelRetry(`${says} Nothing was written.`, { parameter: `${name}.old_text`, value: cut(old), constraint, ...more })
  switch (problem.kind) {
    case 'empty':
      return retry(`${name}.old_text is empty.`, 'text of the file next to which new text goes; write_file for a whole file')
    case 'same':
      return retry(`${name} changes nothing: old_text and new_text are the same.`, 'two texts that differ', {
        parameter: `${name}.new_text`,
      })
    case 'several': {
      const lines = problem.lines.slice(0, SHOWN_PLACES).join(', ')
      const rest = problem.lines.length > SHOWN_PLACES ? ', …' : ''
      return retry(
        `${name}.old_text occurs ${problem.lines.length} times in "${path}", on lines ${lines}${rest}.`,
        'text that occurs once: add the lines around it, in old_text and new_text alike; or replace_all=true for all of them',
        { lines: problem.lines.slice(0, SHOWN_PLACES) },
      )
    }
    case 'overlap':
      return retry(`${name} overlaps edits[${problem.other}].`, 'edits of different places; join these two into one')
    case 'none':
      return notThere(path, text, edits, index, retry)
  }
}

function notThere(
  path: string,
  text: string,
  edits: readonly Edit[],
  index: number,
  retry: (says: string, constraint: string, more?: Record<string, unknown>) => ModelRetry,
): ModelRetry {
  const says = `edits[${index}].old_text is not in "${path}".`
  const constraint = 'text copied from the file, without line numbers'
  const flat = text.replaceAll('\r\n', '\n')
  const region = closestRegion(flat, (edits[index] as Edit).old_text.replaceAll('\r\n', '\n'))
  if (!region) return retry(says, constraint, { call: { tool: 'read_file', input: { path } } })
  const { line, wanted, found } = region.differs
  const shown = region.lines.slice(0, SHOWN_LINES).map((one, at) => `${region.line + at}\t${cut(one)}`)
  const left = region.lines.length > SHOWN_LINES ? `\n… ${region.lines.length - SHOWN_LINES} more lines` : ''
  const call = region.clear ? corrected(path, text, edits, index, region.lines.join('\n')) : undefined
  return retry(
    `${says} Line ${line} of the file is ${JSON.stringify(cut(found))}, not ${JSON.stringify(cut(wanted))}. The closest part:\n${shown.join('\n')}${left}\n`,
    constraint,
    { line, call: call ?? { tool: 'read_file', input: { path, offset: Math.max(0, region.line - 3), limit: region.lines.length + 5 } } },
  )
}

/** The same call with the real text in place of the remembered one, if that would go through. */
function corrected(path: string, text: string, edits: readonly Edit[], index: number, real: string): SuggestedCall | undefined {
  const fixed = edits.map((edit, at) => (at === index ? { ...edit, old_text: edit.old_text.endsWith('\n') ? `${real}\n` : real } : edit))
  return plan(text, fixed).ok ? { tool: 'edit_file', input: { path, edits: fixed } } : undefined
}

const cut = (text: string): string => (text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text)
