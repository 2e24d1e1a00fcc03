/** Builds the errors for patches that can't be applied. Pure, except for checking that a corrected patch would apply. */
import { ModelRetry, ToolFailure } from '@mulligan/core'
import { isMulliganError } from '@mulligan/core/executor'
import { about, tryCall } from '../../workspace/errors.ts'
import { plural } from '../common/page.ts'
import { closestRegion, cut, shownRegion } from '../edit_file/closest.ts'
import { LINE_NUMBER } from './format/patch.ts'
import type { Update } from './place/place.ts'

const SHOWN_LINES = 20
const SHOWN_PLACES = 10
/** Only the beginning of a longer hunk is compared. */
const COMPARED_LINES = 60
/** Longer patches are not repeated in a hint. */
const MAX_CHARS = 1500

/** A corrected line of the patch, or a corrected path in it. */
type Fix = { readonly line: number; readonly text: string } | { readonly line: number; readonly path: string; readonly by: string }

type Failed = Extract<Update, { ok: false }>

export interface Refused extends Pick<Failed, 'hunk' | 'problem'> {
  readonly path: string
  readonly text: string
  /** Whether the file was changed since it was read. */
  readonly stale?: boolean
  /** Whether this is the content on disk, and not the result of an earlier part of the patch, so that the model can read it. */
  readonly onDisk: boolean
}

type Retry = (says: string, constraint: string, more?: Record<string, unknown>) => ModelRetry

export function hunkRefused(refused: Refused): ModelRetry {
  const { path, hunk, problem, stale = false, onDisk } = refused
  const first = hunk.lines.find(({ kind }) => kind !== 'add')?.text ?? hunk.contexts[0] ?? ''
  const retry: Retry = (says, constraint, more = {}) =>
    new ModelRetry(
      `The hunk on line ${hunk.line} of the patch ${says}${stale ? ' The file was changed since it was read.' : ''} Nothing was written.`,
      about('patch', cut(first), constraint, { line: hunk.line, ...(stale && { errorType: 'conflict' }), ...more }),
    )
  const readAround = (line: number, count: number) =>
    onDisk ? tryCall('read_file', { path, offset: Math.max(0, line - 3), limit: Math.min(count, SHOWN_LINES) + 5 }) : {}
  switch (problem.kind) {
    case 'several': {
      const lines = problem.lines.slice(0, SHOWN_PLACES)
      const shown = `${lines.join(', ')}${problem.lines.length > SHOWN_PLACES ? ', …' : ''}`
      if (problem.context)
        return retry(`has a text after "@@" that stands for several lines of "${path}": ${shown}.`, 'the whole line, as it is in the file')
      return retry(`fits "${path}" on lines ${shown}.`, 'more lines around it, copied from the file', { lines })
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
      return missing(refused, problem, retry, readAround)
  }
}

const SIGNS = { keep: ' ', remove: '-', add: '+' } as const
const withoutNumber = (line: string): string => line.replace(LINE_NUMBER, '')

function missing(
  { path, text, hunk }: Refused,
  { wanted, context, from }: Extract<Failed['problem'], { kind: 'missing' }>,
  retry: Retry,
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
  const old = hunk.lines.filter(({ kind }) => kind !== 'add')
  return retry(`${says}${below} ${shownRegion(region)}`, constraint, {
    lineInFile: region.differs.line,
    ...readAround(region.line, region.lines.length),
    ...(fixable && { fixes: old.map(({ kind, line }, at): Fix => ({ line, text: SIGNS[kind] + region.lines[at] })) }),
  })
}

/** Returns true if most of the lines are in the text once their line numbers are removed. */
function isNumbered(text: string, wanted: readonly string[]): boolean {
  const numbered = wanted.filter((line) => LINE_NUMBER.test(line))
  if (numbered.length * 2 <= wanted.length) return false
  const lines = new Set(text.split('\n'))
  return numbered.filter((line) => lines.has(withoutNumber(line))).length * 2 > wanted.length
}

/** Adds the line of the patch that names a refused path to the error. */
export function placeRefused(error: unknown, path: string, line: number): unknown {
  if (!isMulliganError(error)) return error
  const { errorType, details, status } = error
  const near = [details.suggestion, ...(details.candidates ?? [])].filter((one) => typeof one === 'string')
  const fixes: Fix[] = near.slice(0, 1).map((by) => ({ line, path, by }))
  const given = { errorType, status, line, cause: error, ...(near.length > 0 && { candidates: near, fixes }) }
  const Kind = error.name === 'ModelRetry' ? ModelRetry : ToolFailure
  return new Kind(
    `Line ${line} of the patch: ${error.message} Nothing was written.`,
    about('patch', path, details.constraint ?? 'a path inside the workspace', given),
  )
}

/**
 * Adds the corrected call to an error if that is short and would succeed.
 *
 * @param works whether a patch can be applied
 */
export async function withCorrection(error: unknown, patch: string, works: (patch: string) => Promise<boolean>): Promise<unknown> {
  if (!isMulliganError(error) || error.name !== 'ModelRetry' || !Array.isArray(error.details['fixes'])) return error
  const { fixes, ...details } = error.details
  const fixed = corrected(patch, fixes as readonly Fix[])
  const helps = fixed.length <= MAX_CHARS && fixed !== patch && (await works(fixed))
  const call = helps ? tryCall('apply_patch', { patch: fixed }) : {}
  return new ModelRetry(error.message, { errorType: error.errorType, ...details, ...call, cause: error.cause })
}

function corrected(patch: string, fixes: readonly Fix[]): string {
  const lines = patch.split('\n')
  for (const fix of fixes) {
    const line = lines[fix.line - 1]
    if (line === undefined) continue
    if ('text' in fix) lines[fix.line - 1] = fix.text + (line.endsWith('\r') ? '\r' : '')
    else if (/^\s*\*\*\*/.test(line)) lines[fix.line - 1] = line.replace(fix.path, () => fix.by)
  }
  return lines.join('\n')
}
