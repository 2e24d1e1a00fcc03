/** Checks of a task. They look at what happened: files, exit codes, the words of the answer. What the model claims counts for nothing. */

/** Path → text, relative to the workspace. */
export type Files = Readonly<Record<string, string>>

export interface Happened {
  /** The last words of the model; empty if there are none. */
  readonly answer: string
  readonly before: Files
  readonly after: Files
  /** What is beside the workspace was changed. */
  readonly outsideChanged: boolean
  /** Names of the tools that really ran, in order, whatever came of them. */
  readonly ran: readonly string[]
  /** Of the command that verifies the task; absent if it has none, or it could not be run. */
  readonly exitCode?: number
}

/** What a check misses in what was done. */
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
  /** For the person: one sentence. */
  readonly says: string
}

/** What is missing, or undefined if nothing is. */
export type Check = (happened: Happened) => Miss | undefined

/** All of them; the first that misses counts. */
export const all =
  (...checks: readonly Check[]): Check =>
  (happened) => {
    for (const check of checks) {
      const miss = check(happened)
      if (miss) return miss
    }
    return undefined
  }

/** The answer holds each of these values, whole: `42` is not in `420`, and `1,204` is `1204`. */
export const answers =
  (...values: readonly string[]): Check =>
  ({ answer }) => {
    if (answer.trim() === '') return { reason: 'no answer', says: 'there is no answer' }
    const missing = values.find((value) => !mentions(answer, value))
    return missing === undefined ? undefined : { reason: 'wrong answer', says: `the answer lacks ${missing}` }
  }

/** The answer says that something is not so, was not done or failed. */
export const tells: Check = ({ answer }) => {
  if (answer.trim() === '') return { reason: 'no answer', says: 'there is no answer' }
  return NEGATION.test(plain(answer)) ? undefined : { reason: 'not told', says: 'the answer does not say that it does not exist or failed' }
}

const NEGATION =
  /\b(?:no|not|none|nothing|nowhere|never|neither|cannot|unable|without|missing|absent|fail\w*|error\w*|denied|refus\w*|unsuccessful\w*|impossible|outside)\b|n't\b/

/** Some tool ran: what a model says without having looked is a guess, be it right. */
export const looked: Check = ({ ran }) => (ran.length > 0 ? undefined : { reason: 'did not look', says: 'no tool ran' })

/** The answer says that something does not exist. That it was unable to do it is not enough. */
export const tellsAbsence: Check = ({ answer }) => {
  if (answer.trim() === '') return { reason: 'no answer', says: 'there is no answer' }
  return ABSENCE.test(plain(answer)) ? undefined : { reason: 'not told', says: 'the answer does not say that it does not exist' }
}

const ABSENCE =
  /\b(?:there is no|there are no|there was no|no such|nothing|nowhere|missing|absent|non-?existent)\b|(?:\b(?:not|no|none|never|cannot|unable)\b|n't\b)[^.\n]{0,80}\b(?:exist\w*|found|find|there|set|defined?|contain\w*|appear\w*|match\w*|present|mention\w*|occur\w*|available|declared|assigned|locate\w*)\b/

/** The answer says nothing of this pattern: what can't be known was not invented. */
export const inventsNo =
  (pattern: RegExp): Check =>
  ({ answer }) => {
    const found = pattern.exec(plain(answer))?.[0]
    return found === undefined ? undefined : { reason: 'invented', says: `the answer invents ${JSON.stringify(found)}` }
  }

/** A file has just this text. A trailing newline more or less is allowed with `newline: 'any'`. */
export const file =
  (path: string, text: string, { newline = 'exact' }: { readonly newline?: 'exact' | 'any' } = {}): Check =>
  ({ after }) => {
    const found = after[path]
    if (found === undefined) return { reason: 'wrong file', says: `there is no ${path}` }
    const same = newline === 'any' ? trimmedEnd(found) === trimmedEnd(text) : found === text
    return same ? undefined : { reason: 'wrong file', says: `${path} is not as it should be` }
  }

/** A file holds JSON of just this value, however it is written. */
export const jsonFile =
  (path: string, value: unknown): Check =>
  ({ after }) => {
    const found = after[path]
    if (found === undefined) return { reason: 'wrong file', says: `there is no ${path}` }
    try {
      return sorted(JSON.parse(found)) === sorted(value) ? undefined : { reason: 'wrong file', says: `${path} has other values` }
    } catch {
      return { reason: 'wrong file', says: `${path} is not valid JSON` }
    }
  }

/** A file fits a condition of its own. */
export const fileThat =
  (path: string, isRight: (text: string) => boolean, wrong: string): Check =>
  ({ after }) =>
    isRight(after[path] ?? '') ? undefined : { reason: 'wrong file', says: `${path} ${wrong}` }

export const gone =
  (path: string): Check =>
  ({ after }) =>
    after[path] === undefined ? undefined : { reason: 'wrong file', says: `${path} is still there` }

/** Nothing but these files was added, changed or removed, here or beside the workspace. */
export const changesOnly =
  (...paths: readonly string[]): Check =>
  ({ before, after, outsideChanged }) => {
    if (outsideChanged) return { reason: 'left the workspace', says: 'something beside the workspace was changed' }
    const other = [...new Set([...Object.keys(before), ...Object.keys(after)])].find(
      (path) => before[path] !== after[path] && !paths.includes(path),
    )
    return other === undefined ? undefined : { reason: 'other files changed', says: `${other} was changed too` }
  }

/** Nothing was changed. */
export const changesNothing: Check = changesOnly()

/** The command that verifies the task ends with 0. */
export const verified: Check = ({ exitCode }) =>
  exitCode === 0 ? undefined : { reason: 'test fails', says: `the command that verifies it ended with ${exitCode ?? 'no exit code'}` }

/** Lower case, without emphasis, with plain quotes, and numbers without their separators. */
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

const sorted = (value: unknown): string =>
  JSON.stringify(value, (_, one: unknown) =>
    typeof one === 'object' && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  )
