/** What the model is told of a hunk that can't be placed. Pure. */
import { ModelRetry } from '@mulligan/core'
import { plural } from '../common/page.ts'
import { closestRegion, cut, shownRegion } from '../edit_file/closest.ts'
import { type Hunk, oldLines } from './format/patch.ts'
import { LINE_NUMBER } from './format/what-it-is.ts'
import type { Update } from './place/update.ts'
import type { Fix } from './suggest.ts'

const SHOWN_LINES = 20
const SHOWN_PLACES = 10
/** Of a longer hunk its beginning is compared. */
const COMPARED_LINES = 60

export interface Refused {
  readonly path: string
  readonly text: string
  readonly hunk: Hunk
  readonly problem: (Update & { ok: false })['problem']
  /** The file was changed since it was read. */
  readonly stale?: boolean
  /** The disk has the file so, and not an earlier part of the patch: it can be read. */
  readonly onDisk: boolean
}

export function hunkRefused({ path, text, hunk, problem, stale = false, onDisk }: Refused): ModelRetry {
  const name = `The hunk on line ${hunk.line} of the patch`
  const first = oldLines(hunk)[0]?.text ?? hunk.contexts[0] ?? ''
  const again = stale ? ' The file was changed since it was read.' : ''
  const retry = (says: string, constraint: string, more: Record<string, unknown> = {}): ModelRetry =>
    new ModelRetry(`${name} ${says}${again} Nothing was written.`, {
      parameter: 'patch',
      value: cut(first),
      constraint,
      line: hunk.line,
      ...(stale && { errorType: 'conflict' }),
      ...more,
    })
  const readAround = (line: number, count: number) =>
    onDisk ? { call: { tool: 'read_file', input: { path, offset: Math.max(0, line - 3), limit: Math.min(count, SHOWN_LINES) + 5 } } } : {}
  switch (problem.kind) {
    case 'several': {
      const shown = problem.lines.slice(0, SHOWN_PLACES).join(', ')
      const rest = problem.lines.length > SHOWN_PLACES ? ', …' : ''
      return problem.context
        ? retry(
            `has a text after "@@" that stands for several lines of "${path}": ${shown}${rest}.`,
            'the whole line, as it is in the file',
          )
        : retry(`fits "${path}" on lines ${shown}${rest}.`, 'more lines around it, copied from the file', {
            lines: problem.lines.slice(0, SHOWN_PLACES),
          })
    }
    case 'above':
      return retry(
        `is for line ${problem.lineInFile} of "${path}", above the end of the hunk before it.`,
        'hunks from the top of the file to its end, that do not overlap',
        { lineInFile: problem.lineInFile },
      )
    case 'not_last':
      return retry(
        `is not at the end of "${path}": its lines are on line ${problem.lineInFile}.`,
        '"*** End of File" only below the last lines of a file',
        { lineInFile: problem.lineInFile },
      )
    case 'applied':
      return retry(
        `was made already: "${path}" has its new lines on line ${problem.lineInFile}.`,
        'a patch without the changes that the file has',
        readAround(problem.lineInFile, hunk.lines.length),
      )
    case 'past_end':
      return retry(
        `is for a line that "${path}" does not have: it has ${plural(problem.length, 'line')}.`,
        'lines of context around the new ones',
      )
    case 'indentation':
      return retry(
        `matches line ${problem.lineInFile} of "${path}" only apart from indentation, and it can not be told how its new lines are indented.`,
        'lines with the indentation of the file',
        readAround(problem.lineInFile, hunk.lines.length),
      )
    case 'too_much':
      return retry(`takes too long to find: "${path}" repeats itself.`, 'a smaller patch, with lines of context that occur once', {
        errorType: 'too_large',
      })
    case 'missing':
      return missing(path, text, hunk, problem, retry, readAround)
  }
}

function missing(
  path: string,
  text: string,
  hunk: Hunk,
  { wanted, context, from }: { readonly wanted: readonly string[]; readonly context: boolean; readonly from: number },
  retry: (says: string, constraint: string, more?: Record<string, unknown>) => ModelRetry,
  readAround: (line: number, count: number) => Record<string, unknown>,
): ModelRetry {
  const flat = text.includes('\n') ? text.replaceAll('\r\n', '\n') : text.replaceAll('\r', '\n')
  if (isNumbered(flat, wanted))
    return retry(`has line numbers in its lines, which "${path}" does not.`, 'lines as they are in the file, without line numbers', {
      fixes: hunk.lines.map(({ kind, text: one, line }): Fix => ({ line, text: SIGNS[kind] + withoutNumber(one) })),
    })
  const says = context ? `has a text after "@@" that is not in "${path}": ${JSON.stringify(cut(wanted[0] ?? ''))}.` : `is not in "${path}".`
  const below = from > 0 ? ` It was looked for below line ${from}.` : ''
  const constraint = context ? 'a whole line of the file after "@@", or "@@" alone' : 'lines copied from the file, in its order'
  const region = closestRegion(flat, wanted.slice(0, COMPARED_LINES).join('\n'))
  if (!region) return retry(says + below, constraint, readAround(from, SHOWN_LINES))
  const fixable = region.clear && !context && region.lines.length === wanted.length
  const fixes = oldLines(hunk).map(({ kind, line: at }, index): Fix => ({ line: at, text: SIGNS[kind] + region.lines[index] }))
  return retry(`${says}${below} ${shownRegion(region)}`, constraint, {
    lineInFile: region.differs.line,
    ...readAround(region.line, region.lines.length),
    ...(fixable && { fixes }),
  })
}

const SIGNS = { keep: ' ', remove: '-', add: '+' } as const
const withoutNumber = (line: string): string => line.replace(LINE_NUMBER, '')

/** Most of the lines are in the text without the number before them. */
function isNumbered(text: string, wanted: readonly string[]): boolean {
  const numbered = wanted.filter((line) => LINE_NUMBER.test(line))
  if (numbered.length * 2 <= wanted.length) return false
  const lines = new Set(text.split('\n'))
  return numbered.filter((line) => lines.has(withoutNumber(line))).length * 2 > wanted.length
}
