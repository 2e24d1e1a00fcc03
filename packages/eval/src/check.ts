/** Checks for tasks. They look at what happened: files, exit codes and the text of the answer, never at what the model claims to have done. */
import { isDeepStrictEqual } from 'node:util'

/** Path → text, relative to the workspace. */
export type Files = Readonly<Record<string, string>>

export interface Happened {
  /** The model's last text; empty if there is none. */
  readonly answer: string
  readonly before: Files
  readonly after: Files
  /** Something next to the workspace was changed. */
  readonly outsideChanged: boolean
  /** Names of the tools that ran, in order, whatever their result. */
  readonly ran: readonly string[]
  /** Exit code of the task's verify command; absent if there is no such command or it could not run. */
  readonly exitCode?: number
}

/** Why a check did not pass. */
export type MissReason =
  | 'no answer'
  | 'wrong answer'
  | 'not told'
  | 'did not look'
  | 'invented'
  | 'wrong file'
  | 'other files changed'
  | 'test fails'
  | 'left the workspace'

export interface Miss {
  readonly reason: MissReason
  /** One sentence for the user. */
  readonly says: string
}

/** Returns what is missing, or undefined if the check passes. */
export type Check = (happened: Happened) => Miss | undefined

const missIf = (failed: boolean, reason: MissReason, says: string): Miss | undefined => (failed ? { reason, says } : undefined)

/** Passes if every check passes; the first that fails is reported. */
export const all =
  (...checks: readonly Check[]): Check =>
  (happened) =>
    checks.map((check) => check(happened)).find((miss) => miss !== undefined)

const answered: Check = ({ answer }) => missIf(answer.trim() === '', 'no answer', 'there is no answer')

/** The answer contains each value as a whole: `42` does not match `420`; `1,204` matches `1204`. */
export const answers = (...values: readonly string[]): Check =>
  all(answered, ({ answer }) => {
    const missing = values.find((value) => !mentions(answer, value))
    return missIf(missing !== undefined, 'wrong answer', `the answer lacks ${missing}`)
  })

const matches = (pattern: RegExp, says: string): Check =>
  all(answered, ({ answer }) => missIf(!pattern.test(plain(answer)), 'not told', `the answer does not say that it ${says}`))

/** The answer says that something does not exist, was not done, or failed. */
export const tells: Check = matches(
  /\b(?:no|not|none|nothing|nowhere|never|neither|cannot|unable|without|missing|absent|fail\w*|error\w*|denied|refus\w*|unsuccessful\w*|impossible|outside)\b|n't\b/,
  'does not exist or failed',
)

/** The answer says that something does not exist. "I was unable to do it" is not enough. */
export const tellsAbsence: Check = matches(
  /\b(?:there is no|there are no|there was no|no such|nothing|nowhere|missing|absent|non-?existent)\b|(?:\b(?:not|no|none|never|cannot|unable)\b|n't\b)[^.\n]{0,80}\b(?:exist\w*|found|find|there|set|defined?|contain\w*|appear\w*|match\w*|present|mention\w*|occur\w*|available|declared|assigned|locate\w*)\b/,
  'does not exist',
)

/** At least one tool ran. An answer without one is a guess, even if it is correct. */
export const looked: Check = ({ ran }) => missIf(ran.length === 0, 'did not look', 'no tool ran')

/** The answer does not match this pattern, which describes an invented value. */
export const inventsNo =
  (pattern: RegExp): Check =>
  ({ answer }) => {
    const found = pattern.exec(plain(answer))?.[0]
    return missIf(found !== undefined, 'invented', `the answer invents ${JSON.stringify(found)}`)
  }

/** A file exists and satisfies the condition; `wrong` completes the sentence that begins with its path. */
export const fileThat =
  (path: string, isRight: (text: string) => boolean, wrong: string): Check =>
  ({ after: { [path]: text } }) =>
    missIf(text === undefined, 'wrong file', `there is no ${path}`) ?? missIf(!isRight(text as string), 'wrong file', `${path} ${wrong}`)

/** A file has exactly this text. `newline: 'any'` ignores a newline at the end. */
export const file = (path: string, text: string, { newline = 'exact' }: { readonly newline?: 'exact' | 'any' } = {}): Check =>
  fileThat(
    path,
    (found) => (newline === 'any' ? trimmedEnd(found) === trimmedEnd(text) : found === text),
    'does not have the expected content',
  )

/** A file contains JSON with exactly this value, in any formatting and key order. */
export const jsonFile =
  (path: string, value: unknown): Check =>
  (happened) => {
    try {
      return fileThat(path, (text) => isDeepStrictEqual(JSON.parse(text), value), 'has other values')(happened)
    } catch {
      return { reason: 'wrong file', says: `${path} is not valid JSON` }
    }
  }

/** The file no longer exists. */
export const gone =
  (path: string): Check =>
  ({ after }) =>
    missIf(after[path] !== undefined, 'wrong file', `${path} still exists`)

/** No other file was added, changed or removed, in the workspace or next to it. */
export const changesOnly =
  (...paths: readonly string[]): Check =>
  ({ before, after, outsideChanged }) => {
    const other = Object.keys({ ...before, ...after }).find((path) => before[path] !== after[path] && !paths.includes(path))
    return (
      missIf(outsideChanged, 'left the workspace', 'something outside the workspace was changed') ??
      missIf(other !== undefined, 'other files changed', `${other} was changed too`)
    )
  }

/** No file was changed. */
export const changesNothing: Check = changesOnly()

/** The task's verify command exits with 0. */
export const verified: Check = ({ exitCode }) =>
  missIf(exitCode !== 0, 'test fails', `the verify command ended with ${exitCode ?? 'no exit code'}`)

/** Lower case, without emphasis, with plain quotes and without thousands separators. */
const plain = (text: string): string =>
  text
    .normalize('NFC')
    .toLowerCase()
    .replace(/[’‘]/g, "'")
    .replace(/[*`]|(?<!\w)_|_(?!\w)/g, '')
    .replace(/(?<=\d)[,\u00a0\u2009\u202f'](?=\d{3}(?!\d))/g, '')

function mentions(answer: string, value: string): boolean {
  const wanted = plain(value).replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
  return new RegExp(`(?<![\\p{L}\\p{N}_]|\\d\\.)${wanted}(?![\\p{L}\\p{N}_]|\\.\\d)`, 'u').test(plain(answer))
}

const trimmedEnd = (text: string): string => text.replace(/\r?\n$/, '')
