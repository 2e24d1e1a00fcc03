/** What happens to a call of a tool: repaired or refused, guarded, recorded, sent, and its result mended. */
import { notOk, render, type ToolError } from '@mulligan/core'
import type { Breakers, Clock } from '@mulligan/core/executor'
import { canonical, hash, isRecord } from '@mulligan/repair'
import type { Call } from './call.ts'
import type { Catalog } from './catalog.ts'
import type { UnknownCall } from './journal.ts'
import type { Answer } from './link.ts'
import { mendCall } from './mend-call.ts'
import { isFinal, type Mend, mendResult } from './mend-result.ts'
import { type CallResult, CODES, errorResult, type Id, idKey, type Params, request, result as resultLine } from './messages.ts'
import type { CallEnd, ProxyOptions } from './options.ts'
import { boundResult, type Outputs, READ_OUTPUT } from './output.ts'
import { recent } from './recent.ts'
import { CLOSE_AT, createRepeats, WARN_AT } from './repeats.ts'
import type { Pending } from './requests.ts'

interface CallsOptions extends Pick<ProxyOptions, 'server' | 'journal' | 'onEvent'> {
  readonly clock: Clock
  readonly breakers: Breakers
  readonly outputs: Outputs
  readonly maxOutput: number
  readonly observe: boolean
  /** Removes secrets. */
  readonly redact: (text: string) => string
  readonly catalog: () => Promise<Catalog>
  readonly tell: (line: string) => void
  readonly send: (request: { readonly id: Id; readonly params: Params; readonly line: string; readonly call: Call }) => void
  /** Asks a person whether a call that may have taken effect is made again. */
  readonly mayRepeat: (before: UnknownCall) => Promise<boolean>
}

export interface Calls {
  readonly start: (id: Id, params: Params, line: string) => Promise<void>
  /** The server has answered. */
  readonly answered: (one: Pending & { readonly call: Call }, answer: Answer, line: string) => void
  /** The server has not answered, and will not. */
  readonly interrupted: (one: Pending & { readonly call: Call }, how: 'timeout' | 'network', why: string) => void
  /** The call was never sent. */
  readonly unsent: (one: Pending & { readonly call: Call }, why: string) => void
  /** The client does not want the answer any more. */
  readonly cancelled: (one: Pending & { readonly call: Call }) => void
  /** An answer came to a call that was given up. @returns false if there is no such call */
  readonly late: (answer: Answer) => boolean
}

export function createCalls(options: CallsOptions): Calls {
  const { server, journal, clock, breakers, outputs, maxOutput, observe, redact, tell } = options
  const repeats = createRepeats()
  /** Calls that were given up, by the id of their request. */
  const givenUp = recent<string, Call>()
  /** Results of calls that were given up, by the key of the call. */
  const lateResults = recent<string, CallResult>(100)
  const refused = recent<string, true>()

  function emit(call: Omit<Call, 'listed' | 'key' | 'params' | 'notes'>, end: CallEnd, mends: readonly Mend[] = [], told?: string): void {
    const { tool, input, repairs, startedAt } = call
    options.onEvent?.({ type: 'call', tool, end, ms: clock.now() - startedAt, input, repairs, mends, ...(told !== undefined && { told }) })
  }

  function refuse(id: Id, call: Omit<Call, 'listed' | 'key' | 'params' | 'notes'>, end: CallEnd, error: ToolError): void {
    const told = render(error)
    emit(call, end, [], told)
    tell(resultLine(id, errorResult(told)))
  }

  async function start(id: Id, params: Params, line: string): Promise<void> {
    const startedAt = clock.now()
    const input = params['arguments']
    const tools = await options.catalog()
    if (params['name'] === READ_OUTPUT && outputs.isUsed() && !tools.get(READ_OUTPUT)) return tell(resultLine(id, outputs.read(input)))
    const tool = typeof params['name'] === 'string' ? params['name'] : ''
    const mended = tools.isEmpty ? passed(params) : mendCall(params, tools)
    const asked = mended.kind === 'send' ? mended : { ...passed(params), tool: mended.tool }
    const name = asked.tool?.name ?? tool
    const key = hash(canonical([name, asked.params['arguments'] ?? {}]))
    const call: Call = {
      tool: name,
      listed: asked.tool,
      key,
      input,
      params: asked.params,
      repairs: asked.repairs,
      notes: asked.notes,
      hints: mended.kind === 'send' && 'hints' in mended ? mended.hints : undefined,
      startedAt,
    }
    if (mended.kind === 'refuse') {
      const error = await mended.error
      if (!observe && !isSentAnyway(error, call)) return refuse(id, call, 'refused', error)
      if (observe) emit(call, 'refused')
    }
    if (observe) return options.send({ id, params, line, call })
    const stopped = stop(call)
    if (stopped) return refuse(id, call, ...stopped)
    const before = lateResults.take(key)
    if (before) return give(id, call, before, ['This is the late result of the same call made earlier. The call was not made again.'])
    const sent = asked.params === params ? line : request(id, 'tools/call', asked.params)
    if (!journal || call.listed?.saysReadOnly) return options.send({ id, params, line: sent, call })
    const unknown = journal.unknown(server, key)
    if (unknown && !(await options.mayRepeat(unknown))) return refuse(id, call, 'held', heldBy(unknown))
    if (unknown) journal.settle(unknown.id)
    const text = redact(JSON.stringify(call.params['arguments'] ?? {})).slice(0, MAX_INPUT)
    options.send({ id, params, line: sent, call: { ...call, intent: journal.intend({ server, tool: name, key, input: text }) } })
  }

  /** A schema may be wrong and its server right: the same call again is sent as it is, and the server decides. */
  function isSentAnyway({ errorType }: ToolError, { key, input }: Call): boolean {
    const isRepeated = errorType === 'validation' && isRecord(input) && refused.get(key) === true
    refused.set(key, true)
    return isRepeated
  }

  /** Returns why a call is not sent now. */
  function stop({ tool, key }: Call): readonly [CallEnd, ToolError] | undefined {
    const wait = breakers.wait(server, clock.now())
    if (wait > 0) {
      const error = `The MCP server has failed several times in a row, so ${tool} was not called. It may be called again in ${seconds(wait)} s.`
      return ['unavailable', notOk('network', error, { status: 'failed' })]
    }
    const closed = repeats.closedFor(key, clock.now())
    if (closed === 0) return undefined
    const error = `This call of ${tool} has had the same result ${CLOSE_AT} times in a row, so it was not made again. It may be made again in ${seconds(closed)} s.`
    return ['closed', notOk('loop', error)]
  }

  function answered({ id, call }: Pending & { readonly call: Call }, { result, error }: Answer, line: string): void {
    breakers.success(server)
    if (call.intent !== undefined) journal?.settle(call.intent)
    if (!call.listed?.saysReadOnly) repeats.changed()
    if (error !== undefined) {
      const { code, message } = isRecord(error) ? error : {}
      // Clients don't show protocol errors to the model, which alone can correct the call or go another way.
      if (FOR_THE_MODEL.has(code) && !observe) give(id, call, errorResult(String(message)), call.notes)
      else {
        emit(call, 'error')
        tell(line)
      }
    } else if (isFinal(result)) give(id, call, result, call.notes, line)
    else tell(line)
  }

  /** Sends a result, mended where that is needed. @param line the server's own line, if it is its answer to this request */
  function give(id: Id, call: Call, given: CallResult, notes: readonly string[], line?: string): void {
    const count = repeats.add(call.key, given, clock.now())
    const again = count >= WARN_AT ? [`This call has had the same result ${count} times in a row. Repeating it will not help.`] : []
    const { hints = [], listed } = call
    const { arguments: args = {} } = call.params
    const hasArguments = !isRecord(args) || Object.keys(args).length > 0 || listed?.hasParameters === true
    const told = [...notes, ...again]
    const { result, mends } = mendResult(given, { hasArguments, notes: told, hints, outputSchema: listed?.outputSchema })
    const bounded = boundResult(result, call.listed?.outputSchema, maxOutput, outputs.keep)
    const done: readonly Mend[] = bounded === result ? mends : [...mends, 'bounded']
    emit(call, bounded.isError === true ? 'error' : 'ok', done)
    tell(line !== undefined && (done.length === 0 || observe) ? line : resultLine(id, bounded))
  }

  function interrupted({ id, call }: Pending & { readonly call: Call }, how: 'timeout' | 'network', why: string): void {
    breakers.fault(server, clock.now())
    const says = `The MCP server did not finish ${call.tool}: ${why}.`
    if (call.listed?.saysReadOnly) {
      const error = `${says} Its annotations say that the tool changes nothing, so it may be called once more.`
      refuse(id, call, how === 'timeout' ? 'timeout' : 'lost', notOk(how, error, { status: 'retry' }))
    } else {
      giveUp(id, call)
      refuse(id, call, 'indeterminate', notOk(how, says, { status: 'indeterminate' }))
    }
  }

  function giveUp(id: Id, call: Call): void {
    if (call.intent !== undefined) journal?.doubt(call.intent)
    givenUp.set(idKey(id), call)
  }

  return {
    start,
    answered,
    interrupted,
    unsent({ id, call }, why) {
      if (call.intent !== undefined) journal?.settle(call.intent)
      refuse(
        id,
        call,
        'unavailable',
        notOk('network', `The MCP server can't be reached, so ${call.tool} was not called: ${why}.`, { status: 'failed' }),
      )
    },
    cancelled({ id, call }) {
      giveUp(id, call)
      emit(call, 'cancelled')
    },
    late({ id, result, error }) {
      const call = givenUp.take(idKey(id))
      if (call?.intent !== undefined) journal?.settle(call.intent)
      if (call && error === undefined && isFinal(result)) lateResults.set(call.key, result)
      return call !== undefined
    },
  }
}

/** Codes with which servers say that a call is wrong or has failed. */
const FOR_THE_MODEL: ReadonlySet<unknown> = new Set([CODES.invalidParams, CODES.internal, CODES.methodNotFound])

/** Characters of the arguments that the journal keeps. */
const MAX_INPUT = 500

const seconds = (ms: number): number => Math.ceil(ms / 1000)

const passed = (params: Params) => ({ kind: 'send' as const, tool: undefined, params, repairs: [], notes: [] })

function heldBy({ id, tool, at }: UnknownCall): ToolError {
  const error = `The same call of ${tool} was cut off at ${new Date(at).toISOString()}, so it was not made again. Find out with other calls whether it took effect. A person can allow it: mulligan mcp resolve ${id}`
  return notOk('execution', error, { status: 'indeterminate' })
}
