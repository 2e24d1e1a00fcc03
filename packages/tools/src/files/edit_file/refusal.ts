/** What the model is told of an edit that can't be made. Pure. */
import { ModelRetry } from '@mulligan/core'
import { closestRegion, cut, shownRegion } from './closest.ts'
import { callWith, corrected, withoutNumbers } from './corrected.ts'
import { flattened } from './newlines.ts'
import type { Edit, Problem } from './plan.ts'

const SHOWN_PLACES = 10
/** A shorter new text may be in the file by chance. */
const TELLING_CHARS = 12

export interface Refused {
  readonly path: string
  readonly text: string
  readonly edits: readonly Edit[]
  readonly index: number
  readonly problem: Problem
}

type Retry = (says: string, constraint: string, more?: Record<string, unknown>) => ModelRetry

export function refusal(refused: Refused): ModelRetry {
  const { path, text, edits, index, problem } = refused
  const name = `edits[${index}]`
  const old = edits[index]?.old_text ?? ''
  const retry: Retry = (says, constraint, more = {}) =>
    new ModelRetry(`${says} Nothing was written.`, { parameter: `${name}.old_text`, value: cut(old), constraint, ...more })
  switch (problem.kind) {
    case 'empty':
      if (text === '')
        return retry(`${name}.old_text is empty, and only one text can fill "${path}".`, 'text that an edit before it brings in')
      return retry(
        `${name}.old_text is empty, and "${path}" has text.`,
        'text of the file, with which new_text begins or ends too; to replace the whole file, write_file with overwrite=true',
        { call: { tool: 'read_file', input: { path } } },
      )
    case 'same':
      return retry(`${name} changes nothing: old_text and new_text are the same.`, 'two texts that differ', {
        parameter: `${name}.new_text`,
        value: cut(edits[index]?.new_text ?? ''),
      })
    case 'unchanged':
      return retry(`The file has it so already: with these edits "${path}" would not change.`, 'edits that change the file', {
        parameter: 'edits',
        value: undefined,
        call: { tool: 'read_file', input: { path } },
      })
    case 'several': {
      const lines = problem.lines.slice(0, SHOWN_PLACES)
      const how = problem.strategy.note?.replace(/^matched /, ', ').replace(/;.*/, '') ?? ''
      return retry(
        `${name}.old_text occurs ${problem.more ? 'more than ' : ''}${problem.lines.length} times in "${path}"${how}, on lines ${lines.join(', ')}${problem.lines.length > SHOWN_PLACES ? ', …' : ''}.`,
        'text that occurs once: add the lines around it, in old_text and new_text alike; or replace_all=true for all of them',
        { lines },
      )
    }
    case 'many':
      return retry(
        `${name}.old_text occurs more than ${problem.most} times in "${path}".`,
        `text that occurs at most ${problem.most} times`,
      )
    case 'overlap':
      return retry(`${name} overlaps edits[${problem.other}].`, 'edits of different places; join these two into one')
    case 'none':
      return notThere(refused, edits[index] as Edit, retry)
  }
}

function notThere({ path, text, edits, index }: Refused, edit: Edit, retry: Retry): ModelRetry {
  const says = `edits[${index}].old_text is not in "${path}".`
  const constraint = 'text copied from the file, without line numbers'
  if (text === '') {
    const call = callWith(path, text, edits, index, { ...edit, old_text: '' })
    return retry(says, 'an empty text and nothing else, to fill an empty file', call ? { call } : {})
  }
  const bare = withoutNumbers(edit)
  const unnumbered = bare && callWith(path, text, edits, index, bare)
  if (unnumbered) return retry(`edits[${index}].old_text has line numbers, which are not in "${path}".`, constraint, { call: unnumbered })

  const flat = flattened(text)
  const again = edit.new_text.trim().length >= TELLING_CHARS ? flat.indexOf(flattened(edit.new_text)) : -1
  if (again !== -1) {
    const line = flat.slice(0, again).split('\n').length
    return retry(`${says} Its new_text is there already, on line ${line}.`, 'an edit that was not made before', {
      line,
      call: { tool: 'read_file', input: { path, offset: Math.max(0, line - 3) } },
    })
  }
  const region = closestRegion(flat, flattened(edit.old_text))
  if (!region) return retry(says, constraint, { call: { tool: 'read_file', input: { path } } })
  const better = region.clear ? corrected(region, edit) : undefined
  const call = better && callWith(path, text, edits, index, better)
  const readAround = { tool: 'read_file', input: { path, offset: Math.max(0, region.line - 3), limit: region.lines.length + 5 } }
  return retry(`${says} ${shownRegion(region)}`, constraint, { line: region.differs.line, call: call ?? readAround })
}
