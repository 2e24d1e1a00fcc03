/** Builds the errors for edits that can't be made. Pure. */
import { ModelRetry } from '@mulligan/core'
import { about, tryCall } from '../../workspace/errors.ts'
import { closestRegion, cut, shownRegion } from './closest.ts'
import { callWith, corrected, withoutNumbers } from './corrected.ts'
import { flattened } from './newlines.ts'
import type { Edit, Problem } from './plan.ts'

const SHOWN_PLACES = 10
/** Shorter new texts may be in the file by chance. */
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
  const edit = edits[index] as Edit
  const name = `edits[${index}]`
  const reads = tryCall('read_file', { path })
  const retry: Retry = (says, constraint, more = {}) =>
    new ModelRetry(`${says} Nothing was written.`, about(`${name}.old_text`, cut(edit.old_text), constraint, more))
  switch (problem.kind) {
    case 'empty': {
      if (text === '')
        return retry(`${name}.old_text is empty, but an earlier edit already fills "${path}".`, 'text that an earlier edit inserts')
      const constraint =
        'text of the file that new_text also begins or ends with; to replace the whole file, write_file with overwrite=true'
      return retry(`${name}.old_text is empty, and "${path}" has text.`, constraint, reads)
    }
    case 'same': {
      const more = { parameter: `${name}.new_text`, value: cut(edit.new_text) }
      return retry(`${name} changes nothing: old_text and new_text are the same.`, 'two texts that differ', more)
    }
    case 'unchanged': {
      const says = `These edits would not change "${path}": it already has this content.`
      return retry(says, 'edits that change the file', { parameter: 'edits', value: undefined, ...reads })
    }
    case 'several': {
      const lines = problem.lines.slice(0, SHOWN_PLACES)
      const times = `${problem.more ? 'more than ' : ''}${problem.lines.length} times`
      const how = problem.strategy.note?.replace(/^matched /, ', ').replace(/;.*/, '') ?? ''
      return retry(
        `${name}.old_text occurs ${times} in "${path}"${how}, on lines ${lines.join(', ')}${problem.lines.length > SHOWN_PLACES ? ', …' : ''}.`,
        'text that occurs once: add the lines around it, in old_text and new_text alike; or replace_all=true for all of them',
        { lines },
      )
    }
    case 'many': {
      const times = `${problem.most} times`
      return retry(`${name}.old_text occurs more than ${times} in "${path}".`, `text that occurs at most ${times}`)
    }
    case 'overlap':
      return retry(`${name} overlaps edits[${problem.other}].`, 'edits of different places; join these two into one')
    case 'none':
      return notThere(refused, edit, retry)
  }
}

function notThere({ path, text, edits, index }: Refused, edit: Edit, retry: Retry): ModelRetry {
  const says = `edits[${index}].old_text is not in "${path}".`
  const constraint = 'text copied from the file, without line numbers'
  const callFor = (one: Edit | undefined) => one && callWith(path, text, edits, index, one)
  if (text === '') {
    const call = callFor({ ...edit, old_text: '' })
    return retry(says, 'an empty text and nothing else, to fill an empty file', call ? { call } : {})
  }
  const unnumbered = callFor(withoutNumbers(edit))
  if (unnumbered) return retry(`edits[${index}].old_text has line numbers, which are not in "${path}".`, constraint, { call: unnumbered })

  const flat = flattened(text)
  const again = edit.new_text.trim().length >= TELLING_CHARS ? flat.indexOf(flattened(edit.new_text)) : -1
  if (again !== -1) {
    const line = flat.slice(0, again).split('\n').length
    const around = tryCall('read_file', { path, offset: Math.max(0, line - 3) })
    return retry(`${says} Its new_text is there already, on line ${line}.`, 'an edit that was not made before', { line, ...around })
  }
  const region = closestRegion(flat, flattened(edit.old_text))
  if (!region) return retry(says, constraint, tryCall('read_file', { path }))
  const call = callFor(region.clear ? corrected(region, edit) : undefined)
  const around = tryCall('read_file', { path, offset: Math.max(0, region.line - 3), limit: region.lines.length + 5 })
  return retry(`${says} ${shownRegion(region)}`, constraint, { line: region.differs.line, ...around, ...(call && { call }) })
}
