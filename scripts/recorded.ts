/**
 * Recorded replies of real models, from a folder that is not part of the repository. It holds, each plain or packed with xz:
 *
 * - `results.jsonl`: `{ model, cat, i, raw, ok, … }`: a reply to question `i` of category `cat`, and whether the reader that
 *   was written for that model read it right. `raw` is text, or a list of calls (`{ name: arguments }`) and texts
 * - `questions.jsonl`: `{ cat, i, functions, … }`: the tools of each question. In `relevance` none fits: no call is right
 * - `check.mjs`: exports `check(question, calls, underscored)`, undefined where the calls are right, and
 *   `toTool(function, underscored)`, a tool out of one of the functions
 * - `underscored.json`, optional: models that were given names with `_` for `.`
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseToolCalls, readCall, type ToolSpec } from '../packages/repair/src/index.ts'

export interface Call {
  readonly name: string
  readonly arguments: unknown
}

interface Question {
  readonly cat: string
  readonly i: number
  readonly functions: readonly object[]
}

type Raw = string | readonly (string | Readonly<Record<string, unknown>>)[]

export interface RecordedReply {
  readonly model: string
  readonly cat: string
  /** The reply, or each of its parts. */
  readonly raw: Raw
  /** The official reader of its model read it right. */
  readonly ok: boolean
  readonly tools: readonly ToolSpec[]
  /** Whether these calls are the right ones. */
  readonly isRight: (calls: readonly Call[]) => boolean
}

interface Checker {
  readonly check: (question: Question, calls: readonly Call[], underscored: boolean) => string | undefined
  readonly toTool: (fn: object, underscored: boolean) => ToolSpec
}

/** @throws when a file is missing, or is packed and there is no xz */
export async function recordedIn(dir: string, effect: 'read' | 'write' | 'external' = 'read'): Promise<readonly RecordedReply[]> {
  const { check, toTool } = (await import(pathToFileURL(join(dir, 'check.mjs')).href)) as Checker
  const questions = new Map((rowsOf(dir, 'questions.jsonl') as Question[]).map((one) => [`${one.cat}|${one.i}`, one]))
  const names = join(dir, 'underscored.json')
  const underscored = new Set<string>(existsSync(names) ? JSON.parse(readFileSync(names, 'utf8')) : [])
  const known = new Map<string, readonly ToolSpec[]>()
  return (rowsOf(dir, 'results.jsonl') as (Pick<RecordedReply, 'model' | 'cat' | 'raw' | 'ok'> & { readonly i: number })[]).flatMap(
    (row) => {
      const question = questions.get(`${row.cat}|${row.i}`)
      if (!question) return []
      const isUnderscored = underscored.has(row.model)
      const key = `${row.cat}|${row.i}|${isUnderscored}`
      const tools = known.get(key) ?? question.functions.map((fn) => ({ ...toTool(fn, isUnderscored), effect }))
      known.set(key, tools)
      const isRight = (calls: readonly Call[]): boolean =>
        row.cat === 'relevance' ? calls.length === 0 : check(question, calls, isUnderscored) === undefined
      return [{ ...row, tools, isRight }]
    },
  )
}

/** The calls that come out of a reply. */
export const callsIn = ({ raw, tools }: RecordedReply): readonly Call[] =>
  (typeof raw === 'string' ? [raw] : raw).flatMap((part) =>
    typeof part === 'string'
      ? parseToolCalls(part, tools).calls
      : Object.entries(part).flatMap(([name, given]) => readCall({ name, arguments: given }, tools).calls),
  )

function rowsOf(dir: string, name: string): unknown[] {
  const plain = join(dir, name)
  const text = existsSync(plain)
    ? readFileSync(plain, 'utf8')
    : execFileSync('xz', ['-dc', `${plain}.xz`], { maxBuffer: 2 ** 30 }).toString()
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line))
}
