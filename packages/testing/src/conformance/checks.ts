/** What the suite checks in every tool. A fault is reported by one check only, the one that describes it best. */
import { homedir } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ToolError, ToolOk, ToolResult } from '@mulligan/core'
import type { ToolExample } from '@mulligan/core/executor'
import { callName, maxTokens, notRun, okText, outcomeText, type Verdict, verdict } from './report.ts'
import { parameters, type Run, type Subject } from './subject.ts'
import { changes } from './workspace.ts'

type Check = (subject: Subject) => Promise<Verdict>

const UNWATCHED = notRun('no workspace to watch: pass a function that makes the tools for one')

const examplesOf = async ({ examples }: Subject, ...outcomes: readonly ToolExample['outcome'][]): Promise<readonly Run[]> =>
  (await examples()).filter(({ example }) => example && outcomes.includes(example.outcome))

/** All runs with arguments of the right type. */
const typedRuns = async ({ examples, oddValues }: Subject): Promise<readonly Run[]> => [...(await examples()), ...(await oddValues())]

const changed = ({ observed: { before, after } }: Run): string => changes(before, after).join(', ')

/** Whether a text is in the files of the call: then it comes from the files and not from the tool. */
const isFromFiles = (text: string, files: Run['files']): boolean =>
  text.trim() !== '' && Object.values(files).some((content) => content.includes(text.trim()))

/** `empty` is left to retry_versus_empty. */
const MATCHES: Readonly<Record<ToolExample['outcome'], (result: ToolResult) => boolean>> = {
  ok: (result) => result.ok && result.count !== 0,
  empty: () => true,
  retry: (result) => (result.ok ? looksLikeError(result) : result.status === 'retry'),
  failed: (result) => (result.ok ? looksLikeError(result) : result.status === 'failed' || result.status === 'unavailable'),
}

/** There is an `ok` example, a `retry` example if the tool has parameters, and each has the outcome it declares. */
const examples: Check = async (subject) => {
  const { tool, barred } = subject
  const has = (outcome: ToolExample['outcome']): boolean => tool.examples.some((example) => example.outcome === outcome)
  const faults: string[] = []
  if (!has('ok')) faults.push('no ok example')
  if (!has('retry') && parameters(tool).length > 0) faults.push('no retry example')
  const runs = await subject.examples()
  for (const run of runs) {
    const { result } = run.observed.record
    if (run.example && !MATCHES[run.example.outcome](result))
      faults.push(`${callName(run)} returned ${outcomeText(result)}${result.ok ? '' : `: ${result.error}`}`)
  }
  const left = tool.examples.filter(barred).length
  if (faults.length === 0 && runs.length === 0) return notRun('it would leave this machine')
  const why = left > 0 ? { why: `${left} of ${tool.examples.length} examples not run: they would leave this machine` } : {}
  return verdict(faults, { tokens: maxTokens(runs), ...why })
}

/** Nothing found is ok with count 0, never an error; a refused call has changed nothing. */
const retryVersusEmpty: Check = async (subject) => {
  const runs = await examplesOf(subject, 'empty', 'retry')
  if (runs.length === 0) return notRun('no empty or retry example to run')
  const faultOf = (run: Run): string | false => {
    const { result } = run.observed.record
    if (run.example?.outcome === 'retry') return changed(run) !== '' && `${callName(run)} changed ${changed(run)}`
    return !(result.ok && result.count === 0) && `${callName(run)} returned ${outcomeText(result)} instead of ok with count 0`
  }
  return verdict(runs.flatMap((run) => faultOf(run) || []))
}

const ERROR_TEXT = /^\s*(error\s*[:–—-]|\w*(error|exception):|fail(ed|ure)( to\b|:)|traceback \(most recent|\{\s*"error"\s*:\s*["{])/i

/** True if an ok result reads like a failure: a text that begins like one, or an object that is one. */
function looksLikeError(result: ToolOk): boolean {
  if (ERROR_TEXT.test(okText(result).slice(0, 200))) return true
  const { data } = result
  if (typeof data !== 'object' || data === null || !('error' in data)) return false
  const { error } = data
  return (typeof error === 'string' && error !== '') || (typeof error === 'object' && error !== null)
}

/** A failure is never returned as a success, neither in an example nor for an impossible value. */
const errorAsSuccess: Check = async (subject) => {
  const runs = await typedRuns(subject)
  if (runs.length === 0) return notRun('nothing to run')
  const faults = runs.flatMap((run) => {
    const { result } = run.observed.record
    if (!result.ok || !looksLikeError(result)) return []
    const [line = ''] = okText(result).trim().split('\n')
    return isFromFiles(line, run.files) ? [] : [`${callName(run)} is ok, and says ${JSON.stringify(line.slice(0, 80))}`]
  })
  return verdict(faults)
}

const BARE = /^\W*(invalid|bad|wrong|illegal|incorrect|malformed)?\s*(input|parameters?|arguments?|params?|args?|request|values?)?\W*$/i

/** The result of a wrong call says what is wrong and what to do; a call that it suggests works unchanged. */
const actionableHint: Check = async (subject) => {
  const isRetry = ({ observed: { record } }: Run): boolean => !record.result.ok && record.result.status === 'retry'
  const wrong = (await typedRuns(subject)).filter(isRetry)
  if (wrong.length === 0) return notRun('no call returned retry')
  const names = parameters(subject.tool)
  const faults = wrong.flatMap((run) => hintFaults(run, names).map((fault) => `${callName(run)}: ${fault}`))
  return verdict(faults, { tokens: maxTokens(wrong) })
}

function hintFaults({ observed, followed }: Run, names: readonly string[]): string[] {
  const { error, details = {} } = observed.record.result as ToolError
  const { parameter, value, constraint, suggestion, candidates = [], call } = details
  // A parameter called "input" does not make "Invalid input" a hint.
  const named = parameter !== undefined && hasWord(observed.text, parameter)
  const told = named || (!BARE.test(error) && names.some((name) => hasWord(observed.text, name)))
  const about = told || value !== undefined || constraint !== undefined
  const offered = suggestion !== undefined || candidates.length > 0 || call !== undefined
  const faults: string[] = []
  const quoted = JSON.stringify(error.slice(0, 80))
  if (!about) faults.push(`${quoted} names no parameter, value or constraint`)
  else if (!offered && !told) faults.push(`${quoted} does not say what to do`)
  if (followed && !followed.record.result.ok)
    faults.push(`the call it suggests, ${JSON.stringify(followed.input)}, returned ${outcomeText(followed.record.result)}`)
  return faults
}

const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')

/** The text contains the name as a separate word. */
const hasWord = (text: string, name: string): boolean => new RegExp(`(?<!\\w)${literal(name)}(?!\\w)`, 'i').test(text)

/** If a required parameter is missing or has a wrong type, the result is a retry that names it, and nothing is changed. */
const wrongTypes: Check = async (subject) => {
  const runs = await subject.wrongTypes()
  if (runs.length === 0) return notRun('no required parameter')
  const faultOf = (run: Run): string | false => {
    const { record, text, state } = run.observed
    if (changed(run) !== '') return `changed ${changed(run)}`
    if (record.result.ok || record.result.status !== 'retry') return `returned ${outcomeText(record.result)}${state.ran ? ', and ran' : ''}`
    return !text.includes(run.probe?.parameter ?? '') && 'the hint does not name it'
  }
  const faults = runs.flatMap((run) => {
    const fault = faultOf(run)
    return fault ? [`${run.probe?.parameter} ${run.probe?.how}: ${fault}`] : []
  })
  return verdict(faults, { tokens: maxTokens(runs) })
}

/** When its signal is aborted, a tool ends within the grace period, whether it stops or completes. */
const heedsAbort: Check = async ({ tool, right, scene, pace }) => {
  if (!right) return notRun('no ok example to run')
  const faults: string[] = []
  for (const abort of ['started', 'before'] as const) {
    const over = await scene(right.files ?? {}, async ({ call }) => (await call(tool.name, right.input, { abort })).state.over)
    const when = abort === 'before' ? 'aborted before it started' : 'aborted while it ran'
    if (!over) faults.push(`${when}, it had not ended ${pace.graceMs} ms later`)
  }
  return verdict(faults)
}

/** Seconds, in which a tool can do hardly anything. */
const TINY_TIMEOUT = 0.01
/** Milliseconds after which work that was left running in the background has become visible. */
const QUIET_MS = 300

/** After a timed-out call has its result, the tool changes nothing more. */
const lateWrite: Check = async ({ tool, right, scene, watchable, pace }) => {
  if (!right) return notRun('no ok example to run')
  if (!watchable) return UNWATCHED
  return scene(right.files ?? {}, async ({ call, snapshot }) => {
    const { record, after, state } = await call(tool.name, right.input, { timeout: TINY_TIMEOUT })
    if (record.result.ok && state.over) return verdict([])
    await Promise.race([state.settled, sleep(pace.timeoutMs)])
    await sleep(QUIET_MS)
    const late = changes(after, await snapshot())
    return verdict(late.length > 0 ? [`after its timeout it still changed ${late.join(', ')}`] : [])
  })
}

/** Characters. The engine bounds what the model reads; a tool that returns more than this has no limit of its own. */
const CEILING = 1_000_000

/** The tool itself bounds the result of a call. */
const boundedOutput: Check = async (subject) => {
  const runs = await subject.examples()
  if (runs.length === 0) return notRun('nothing to run')
  const faults = runs.flatMap((run) => {
    const { result } = run.observed.record
    const content = result.ok ? okText(result) : okText({ data: '', ...(result.content && { content: result.content }) })
    const all = [content, result.display ?? '', result.ok ? (JSON.stringify(result.data) ?? '') : result.error]
    const size = Math.max(...all.map((text) => text.length))
    return size > CEILING ? [`${callName(run)} returned ${size} characters in one call`] : []
  })
  return verdict(faults, { tokens: maxTokens(runs) })
}

/** A stack frame of JavaScript or Python, also in a stack that was written on one line. */
const FRAME = /\bat (?:[^\n()]{0,200} )?\(?(?:file:\/\/|node:|\/|[A-Za-z]:[\\/])[^\s()]{0,500}:\d+:\d+\)?|\bFile "[^"\n]{1,500}", line \d+/
/** A URL with a password. */
const CREDENTIALS = /\b[a-z][a-z\d+.-]{0,30}:\/\/[^\s/:@]{0,200}:[^\s/@]{1,200}@/i

/** No text of a tool contains a stack, a password in a URL or a path of this machine, especially not that of an error. */
const noLeak: Check = async (subject) => {
  const runs = [...(await typedRuns(subject)), ...(await subject.wrongTypes())]
  if (runs.length === 0) return notRun('nothing to run')
  return verdict(runs.flatMap((run) => leaks(run).map((leak) => `${callName(run)} shows ${leak}`)))
}

function leaks({ observed, files }: Run): string[] {
  const text = wordsOf(observed.record.result)
  const frame = FRAME.exec(text)?.[0]
  const paths = [observed.dir, homedir(), process.cwd()].filter((path) => path.length > 1 && holdsPath(text, path))
  const url = CREDENTIALS.exec(text)?.[0]
  const shown = [
    ...(frame !== undefined && !isFromFiles(frame, files) ? ['a stack'] : []),
    ...(url !== undefined && !isFromFiles(url, files) ? ['a URL with a password'] : []),
  ]
  // The path itself is not reported, because reports are shared.
  return paths.some((path) => !isFromFiles(path, files)) ? [...shown, 'a path of this machine'] : shown
}

/** All text that reaches the model, the user or a client. The data of a success counts only if the model reads it. */
function wordsOf(result: ToolResult): string {
  const { display = '', notes = [] } = result
  if (result.ok) return [result.content === undefined ? texts(result.data) : okText(result), display, ...notes].join('\n')
  return [result.error, okText({ content: result.content ?? '', data: null }), texts(result.details), display, ...notes].join('\n')
}

/** The texts in a value, with their line breaks. */
function texts(value: unknown): string {
  if (typeof value === 'string') return value
  return typeof value === 'object' && value !== null ? Object.values(value).map(texts).join('\n') : ''
}

/** `/root` is not in `/rooted`. */
const holdsPath = (text: string, path: string): boolean => new RegExp(`(?<![\\w.~-])${literal(path)}(?!\\w)`).test(text)

/** A `read` changes nothing. A `write` whose examples change nothing is suspicious, but may be correct. */
const effect: Check = async (subject) => {
  if (!subject.watchable) return UNWATCHED
  const runs = await examplesOf(subject, 'ok', 'empty')
  if (runs.length === 0) return notRun('no ok example to run')
  if (subject.tool.effect === 'read')
    return verdict(runs.flatMap((run) => (changed(run) === '' ? [] : [`it is a read, but ${callName(run)} changed ${changed(run)}`])))
  const idle = subject.tool.effect === 'write' && runs.every((run) => changed(run) === '' && run.example?.why === undefined)
  return verdict([], idle ? { why: 'suspicious: it is a write, and its ok examples change nothing' } : {})
}

/** In the order of the report. */
export const CHECKS: Readonly<Record<string, Check>> = {
  examples,
  retry_versus_empty: retryVersusEmpty,
  error_as_success: errorAsSuccess,
  actionable_hint: actionableHint,
  wrong_types: wrongTypes,
  heeds_abort: heedsAbort,
  late_write: lateWrite,
  bounded_output: boundedOutput,
  no_leak: noLeak,
  effect,
}
