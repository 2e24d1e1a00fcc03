/** Checks every hint: it says what to do, and doing that works. */
import { isDeepStrictEqual } from 'node:util'
import type { TurnOutcome } from '@mulligan/agent'
import type { CallRecord, ToolError } from '@mulligan/core'
import { lastToolResults, type RecordedRequest } from '@mulligan/testing'
import { expect } from 'vitest'

/** `TOOL ok`, `TOOL ok 0`, `TOOL STATUS ERRORTYPE, N left`. */
export function describeCall({ tool, result }: CallRecord): string {
  if (result.ok) return `${tool} ok${result.count === 0 ? ' 0' : ''}`
  const left = result.details?.triesLeft
  return `${tool} ${result.status} ${result.errorType}${left === undefined ? '' : `, ${left} left`}`
}

/** @param unrepaired why no correct call follows a wrong one, for a row that tests exactly that */
export function checkHints({ calls }: TurnOutcome, requests: readonly RecordedRequest[], unrepaired: string | undefined): void {
  for (const record of calls) {
    const { result } = record
    if (result.ok) continue
    const text = textRead(record, requests)
    if (text !== undefined) expect(text).toContain(`${result.status} (${result.errorType}): ${result.error}`)
    if (result.details?.call) checkSuggestion(record, calls)
    if (result.status === 'retry') checkRetry(record, result, text, unrepaired === undefined ? calls : undefined)
  }
}

/** The model made the suggested call in its next response, and the result was ok. */
function checkSuggestion(record: CallRecord, calls: readonly CallRecord[]): void {
  const suggested = record.result.ok ? undefined : record.result.details?.call
  const followed = calls.filter(
    ({ step, tool, input }) => step === record.step + 1 && tool === suggested?.tool && isDeepStrictEqual(input, suggested.input),
  )
  expect({ suggested, cameTo: followed.map(describeCall) }, 'the suggested call comes next, and works').toEqual({
    suggested,
    cameTo: [`${suggested?.tool} ok`],
  })
}

/** The hint names the parameter and its constraint, and the tool succeeds later in the turn. */
function checkRetry(
  record: CallRecord,
  { errorType, details = {} }: ToolError,
  text: string | undefined,
  calls?: readonly CallRecord[],
): void {
  const { parameter, constraint = '' } = details
  expect(constraint).not.toBe('')
  if (errorType !== 'malformed_call') expect(parameter).toMatch(/./)
  if (text !== undefined) for (const word of [parameter ?? '', constraint]) expect(text).toContain(word)
  if (!calls) return
  const later = calls.slice(calls.indexOf(record) + 1).filter(({ result }) => result.ok)
  const repaired = errorType === 'unknown_tool' ? later : later.filter(({ tool }) => tool === record.tool)
  expect(repaired.length, `a right call follows: ${describeCall(record)}`).toBeGreaterThan(0)
}

/** The result as it was sent to the model; `undefined` if the turn ended before, or its id could not be sent back. */
function textRead({ wireId }: CallRecord, requests: readonly RecordedRequest[]): string | undefined {
  for (const request of requests) {
    const found = lastToolResults(request).find(({ id }) => id === wireId)
    if (!found) continue
    if (request.protocol === 'anthropic') expect(found.isError).toBe(true)
    return found.text
  }
  return undefined
}
