/**
 * Reads recorded replies of real models from a folder outside the repository. It contains these files, plain or compressed with xz:
 *
 * - `results.jsonl`: `{ model, cat, i, raw, ok, … }`: a reply to question `i` of category `cat`, and whether the parser that
 *   was written for that model parsed it correctly. `raw` is text, or a list of calls (`{ name: arguments }`) and texts
 * - `questions.jsonl`: `{ cat, i, functions, … }`: the tools of each question. In `relevance` no tool fits, so no call is correct
 * - `check.mjs`: exports `check(question, calls, underscored)`, undefined if the calls are correct, and
 *   `toTool(function, underscored)`, a tool made from one of the functions
 * - `underscored.json`, optional: models that got names with `_` instead of `.`
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
  /** The reply, or its parts. */
  readonly raw: Raw
  /** The official parser of its model parsed it correctly. */
  readonly ok: boolean
  readonly tools: readonly ToolSpec[]
  /** Whether these calls are correct. */
  readonly isRight: (calls: readonly Call[]) => boolean
}

interface Checker {
  readonly check: (question: Question, calls: readonly Call[], underscored: boolean) => string | undefined
  readonly toTool: (fn: object, underscored: boolean) => ToolSpec
}

/** @throws if a file is missing, or is compressed and xz is not installed */
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

/** The calls that are parsed from a reply. */
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
