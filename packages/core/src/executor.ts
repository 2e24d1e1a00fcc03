/**
 * The executor of one turn: turns whatever a call comes to into exactly one result. In order: resolve name → parse →
 * coerce → validate ({@link understand}) → closed, guard, limits → policy and approval → run (timeout, abort, backoff,
 * breaker) → classify → bound → record. Nothing a tool or a model does makes it throw.
 */

import { clonePlain, hash, indexNames, type NameIndex, resolveName } from '@mulligan/repair'
import {
  type ApprovalRequest,
  about,
  type CallRecord,
  type Decided,
  greaterEffect,
  keyOf,
  lockOf,
  type Prepared,
  type ReadyCall,
  resultEvent,
  targetsOf,
  toReady,
} from './call/ready-call.ts'
import { completeHint, type IncomingCall, type Understood, understand } from './call/understand.ts'
import type { ApprovalDecision, ToolEvent } from './events.ts'
import { DEFAULT_RESULT_TOKENS, type Executor, type ExecutorOptions } from './executor-options.ts'
import { defaultPolicy } from './policy.ts'
import { decideOnTargets } from './policy-targets.ts'
import { notOk, type ToolError, type ToolResult } from './result.ts'
import { bound } from './run/bound.ts'
import { runTool, systemClock } from './run/run-tool.ts'
import { createBreakers } from './run/transient.ts'
import type { Effect, Tool } from './tool.ts'
import { earlierDenial, isInDoubt, withDoubts } from './turn/consent.ts'
import { closedUntil, judge } from './turn/counters.ts'
import { BLOCK_AT, isLooping, repeats, WARN_AT } from './turn/guard.ts'
import { DEFAULT_LIMITS, limitReached, NOTHING_SPENT } from './turn/limits.ts'
import { awaitsAnswer, grants, hasBegun, isGranted } from './turn/permits.ts'
import * as refuse from './turn/refusals.ts'
import { NEW_TURN, reduceTurn } from './turn/state.ts'

const indexes = new WeakMap<readonly Tool[], NameIndex<Tool>>()

/**
 * An executor for one turn. State belongs to it alone: two turns share no counter, no closed tool, no denial.
 * @throws TypeError when two tools have the same name
 * @example
 * const executor = createExecutor({ tools: [search] })
 * const prepared = await executor.prepare({ id: 't1/1/0', step: 1, ordinal: 0, name: 'search', input: '{"query":"x"}' })
 * if (prepared.kind === 'ready') console.log(render((await executor.execute(prepared.call)).result))
 */
export function createExecutor(options: ExecutorOptions): Executor {
  const { tools, policy = defaultPolicy, signal, graceMs = 1000, clock = systemClock, isNamed = () => false } = options
  const { maxCalls = DEFAULT_LIMITS.calls, maxResultTokens = DEFAULT_RESULT_TOKENS } = options
  const breakers = options.breakers ?? createBreakers()
  const index = indexes.get(tools) ?? indexNames(tools)
  indexes.set(tools, index)
  let state = (options.events ?? []).reduce(reduceTurn, {
    ...NEW_TURN,
    ...options.tainted,
    consent: withDoubts(options.inDoubt ?? []),
  })
  const values = new WeakMap<ReadyCall, unknown>()
  /** Prepared calls that have no outcome yet: parallel copies of one call count as repeats of it. */
  const inFlight = new Map<string, number>()
  /** Effects that were given up on and still run: they keep their lock. */
  const stillRunning = new Map<string, string>()
  const lateNews: string[] = []
  let effects: Promise<unknown> = Promise.resolve()

  /** What listens must not break what happens: only the intent of a call waits for its listener, and heeds it. */
  function emit(event: ToolEvent): void | Promise<void> {
    state = reduceTurn(state, event)
    if (event.type === 'tool.started') return options.onEvent?.(event)
    try {
      options.onEvent?.(event)?.catch((error: unknown) => log(event.callId, event.tool, error))
    } catch (error) {
      log(event.callId, event.tool, error)
    }
  }

  function log(callId: string, tool: string, error: unknown): void {
    try {
      options.log?.({ callId, tool, error })
    } catch {
      // nobody is left to tell
    }
  }

  async function prepare(call: IncomingCall): Promise<Prepared> {
    const understood = await understand(call, index)
    if (understood.thrown !== undefined) log(call.id, understood.tool?.name ?? '', understood.thrown)
    const ready = await inConversation(toReady(call, understood), understood)
    const { step, ordinal, requestedTool, effect } = ready
    const asked = requestedTool !== undefined && { requestedTool }
    emit({ type: 'tool.call', ...about(ready), step, ordinal, ...asked, input: understood.input, effect })
    for (const repair of understood.repairs) emit({ type: 'tool.repaired', ...about(ready), repair })
    const refusal = cancelled() ?? closed(understood) ?? understood.refusal ?? loop(ready, understood.tool) ?? overLimit()
    if (refusal) return refused(ready, refusal, understood)
    values.set(ready, understood.value)
    return consent(ready)
  }

  /** What the call comes to here: an effect that is greater than its tool's, secret files that it would open. */
  async function inConversation(call: ReadyCall, { tool, refusal, value }: Understood): Promise<ReadyCall> {
    if (!tool || refusal) return call
    try {
      let { effect } = call
      for (const target of targetsOf(call)) effect = greaterEffect(effect, options.effectOf?.({ ...call, target }) ?? effect)
      const secrets = (await tool.secrets?.(value as never)) ?? []
      return { ...call, effect, ...(secrets.length > 0 && { secrets }) }
    } catch (error) {
      // Not knowing is no leave: the call opens no secret file then, and sends nothing unasked.
      log(call.id, call.tool, error)
      return { ...call, effect: 'external' }
    }
  }

  /** Secret files that the call would open and that only a person can allow. */
  const unnamed = ({ secrets = [] }: ReadyCall): readonly string[] => secrets.filter((path) => !isNamed(path))

  /** The refusal of a call that opens some which nobody has allowed. */
  function noSecrets(call: ReadyCall): ToolError | undefined {
    const paths = unnamed(call)
    return paths.length > 0 ? refuse.denied('nobody', refuse.secretsUnattended(paths)) : undefined
  }

  const refused = async (call: ReadyCall, refusal: ToolError, done?: Done): Promise<Decided> => ({
    kind: 'result',
    record: await finish(call, refusal, done),
  })

  const cancelled = (): ToolError | undefined => (signal?.aborted ? refuse.cancelled() : undefined)

  function closed({ counter, tool }: Understood): ToolError | undefined {
    const name = tool && closedUntil(state.counters, tool.name) ? tool.name : counter.name
    const until = closedUntil(state.counters, name)
    return until && refuse.closed(name, until)
  }

  /** Warns of a repeated call, and refuses it the next time. */
  function loop(call: ReadyCall, tool: Tool | undefined): ToolError | undefined {
    if (!tool || tool.polls) return undefined
    const times = repeats(state.guard, call) + (inFlight.get(keyOf(call)) ?? 0)
    if (times < WARN_AT - 1) return undefined
    const blocked = times >= BLOCK_AT - 1
    emit({ type: 'guard.warning', ...about(call), step: call.step, repeats: times, blocked })
    if (blocked) return refuse.looping(times)
    call.notes.push(refuse.loopWarning(times + 1))
    return undefined
  }

  function overLimit(): ToolError | undefined {
    const reached = limitReached({ ...NOTHING_SPENT, calls: state.calls - 1 }, { calls: 1 }, { ...DEFAULT_LIMITS, calls: maxCalls })
    return reached && refuse.overLimit(reached)
  }

  async function consent(call: ReadyCall): Promise<Prepared> {
    const { id, tool, effect, input, target } = call
    const targets = targetsOf(call)
    const denial = earlierDenial(state.consent, tool, keysOfTargets(call, targets))
    if (denial !== undefined) return refused(call, refuse.denied('before', denial))
    const decided = decideOnTargets(policy, { tool, effect, input }, targets, (error) => log(id, tool, error))
    const { decision, reason, forced: byPolicy = false } = decided
    if (decision === 'deny') return refused(call, refuse.denied('policy', reason))
    const forced = isInDoubt(state.consent, tool, call.inputKey)
      ? 'the same call was cut off before and may have taken effect'
      : effect === 'external' && state.untrusted
        ? 'this session has read content from outside, which may have asked for this'
        : effect === 'external' && state.secret
          ? 'this session has asked for a file with keys or passwords, and this leaves the machine'
          : unnamed(call).length > 0
            ? refuse.opensSecrets(unnamed(call))
            : byPolicy
              ? reason
              : undefined
    hold(call, 1)
    if (decision === 'allow' && forced === undefined) return { kind: 'ready', call }
    const question = { ...about(call), target, reason: forced ?? reason, forced: forced !== undefined }
    emit({ type: 'tool.approval.required', ...question })
    const asks = decided.asks.length > 0 ? decided.asks : targets.map((one) => ({ target: one, reason: question.reason }))
    return { kind: 'approval', call, request: { ...question, effect, input, asks } }
  }

  /** What a no to these targets is remembered by. */
  function keysOfTargets({ id, tool, input }: ReadyCall, targets: readonly string[]): readonly string[] {
    const denialKeys = index.exact.get(tool)?.tool.denialKeys
    if (!denialKeys) return targets
    try {
      const keys = targets.map((target) => denialKeys(input as never, target))
      return keys.flatMap((some, at) => (some.length > 0 ? some : targets.slice(at, at + 1)))
    } catch (error) {
      log(id, tool, error)
      return targets
    }
  }

  async function decide(call: ReadyCall, request: ApprovalRequest, decision: ApprovalDecision): Promise<Decided> {
    const known = ANSWERS.has(decision?.answer) ? decision : ({ answer: 'nobody' } as const)
    const keys = keysOfTargets(
      call,
      request.asks.map(({ target }) => target),
    )
    emit({ type: 'tool.approval.resolved', ...about(call), target: request.target, keys, decision: known })
    const { answer, reason } = known
    if (grants(answer)) return { kind: 'ready', call }
    hold(call, -1)
    return refused(call, cancelled() ?? ((answer === 'nobody' && noSecrets(call)) || refuse.denied(answer, reason)))
  }

  async function execute(call: ReadyCall): Promise<CallRecord> {
    if (call.effect === 'read') return run(call)
    const mine = effects.then(() => run(call))
    effects = mine.catch(() => undefined)
    return mine
  }

  async function run(call: ReadyCall): Promise<CallRecord> {
    const tool = index.exact.get(call.tool)?.tool
    const started = clock.now()
    try {
      const refusal = cancelled() ?? notPermitted(call)
      if (refusal) return await finish(call, refusal)
      if (!tool) return await finish(call, notOk('unknown_tool', `There is no tool named "${call.tool}" any more.`, { status: 'failed' }))
      const lock = stillRunning.get(lockOf(call))
      if (lock !== undefined) return await finish(call, refuse.stillRunning(call.tool, lock))
      const inputHash = hash(call.inputKey)
      if (!(await recordIntent(call, inputHash))) return await finish(call, refuse.unrecorded(call.tool))
      const { result, attempts, late } = await runTool(as(tool, call.effect), await inputOf(call, tool), {
        callId: call.id,
        idempotencyKey: `${call.id}.${inputHash}`,
        signal,
        graceMs,
        clock,
        breakers,
        log: (error) => log(call.id, call.tool, error),
        progress: (attempt, message) => emit({ type: 'tool.delta', ...about(call), attempt, message }),
        secrets: call.secrets,
      })
      if (late) awaitLate(call, tool, late, attempts, started)
      return await finish(call, result, { attempts, durationMs: clock.now() - started })
    } catch (error) {
      log(call.id, call.tool, error)
      const begun = hasBegun(state.permits, call.id)
      return await finish(call, refuse.broken(call.tool, begun), { durationMs: clock.now() - started })
    } finally {
      hold(call, -1)
    }
  }

  /** What has changed since the call was prepared, and what a caller may not skip. */
  function notPermitted(call: ReadyCall): ToolError | undefined {
    const { id, tool, effect, inputKey } = call
    const refusal = isGranted(state.permits, id) ? undefined : noSecrets(call)
    if (refusal || effect === 'read') return refusal
    if (hasBegun(state.permits, id)) return refuse.alreadyRun(tool)
    if (awaitsAnswer(state.permits, id)) return refuse.denied('nobody')
    const denial = earlierDenial(state.consent, tool, keysOfTargets(call, targetsOf(call)))
    if (denial !== undefined) return refuse.denied('before', denial)
    return isInDoubt(state.consent, tool, inputKey) && !isGranted(state.permits, id) ? refuse.inDoubt(tool) : undefined
  }

  /** The intent stands on record before the effect begins; what can't be recorded is not run. */
  async function recordIntent({ id, tool, effect }: ReadyCall, inputHash: string): Promise<boolean> {
    try {
      await emit({ type: 'tool.started', callId: id, tool, effect, inputHash })
      return true
    } catch (error) {
      log(id, tool, error)
      return effect === 'read'
    }
  }

  async function inputOf(call: ReadyCall, tool: Tool): Promise<unknown> {
    // A copy: what a tool does to its input must not change what is on record.
    if (values.has(call)) return clonePlain(values.get(call))
    const checked = await tool.check.check(call.input)
    return clonePlain(checked.ok ? checked.value : call.input)
  }

  /** The tool runs on after it was given up: it keeps its lock, and its outcome is recorded when it comes. */
  function awaitLate(call: ReadyCall, tool: Tool, late: Promise<ToolResult>, attempts: number, started: number): void {
    if (call.effect !== 'read') stillRunning.set(lockOf(call), call.id)
    void late.then(async (raw) => {
      stillRunning.delete(lockOf(call))
      const result = await bounded(raw, `${call.id}-late`)
      lateNews.push(`The earlier call of ${call.tool} that was cut off has since ${result.ok ? 'succeeded' : `failed: ${result.error}`}`)
      emit({ ...resultEvent(call, result), attempts, durationMs: clock.now() - started, late: true, ...trustOf(tool) })
    })
  }

  const bounded = (raw: ToolResult, callId: string): Promise<ToolResult> =>
    bound(raw, { maxTokens: maxResultTokens, spill: options.spill, callId })

  const trustOf = (tool: Tool | undefined) => tool?.untrusted === true && { untrusted: true }

  interface Done {
    readonly attempts?: number
    readonly durationMs?: number
    readonly counter?: Understood['counter']
    /** As it came, when it could not be read. */
    readonly input?: unknown
  }

  /** The one place where a result is completed, bounded, counted and recorded. */
  async function finish(call: ReadyCall, raw: ToolResult, done: Done = {}): Promise<CallRecord> {
    const { attempts = 0, durationMs = 0 } = done
    const tool = index.exact.get(call.tool)?.tool
    const hinted = raw.ok || !tool ? raw : await completeHint(raw, tool, call.input, index)
    const notes = [...(hinted.notes ?? []), ...call.notes, ...lateNews.splice(0)]
    const marked = call.secrets ? { ...hinted, secret: true as const } : hinted
    const result = record(
      call,
      await bounded(notes.length > 0 ? { ...marked, notes } : marked, call.id),
      done.counter ?? { name: call.tool, retries: tool?.retries ?? 0 },
      { attempts, durationMs, ...(attempts > 0 && trustOf(tool)) },
    )
    const { notes: _, inputKey: __, secrets: ___, ...rest } = call
    return { ...rest, input: done.input ?? call.input, attempts, result, durationMs }
  }

  /** Counts a wrong call and writes down what happened. Without a pause, so that parallel calls are judged one after another. */
  function record(
    call: ReadyCall,
    bounded: ToolResult,
    counter: Understood['counter'],
    more: { readonly attempts: number; readonly durationMs: number; readonly untrusted?: boolean },
  ): ToolResult {
    const wrong = !bounded.ok && bounded.status === 'retry'
    if (!wrong) {
      emit({ ...resultEvent(call, bounded), ...more })
      return bounded
    }
    const effect = counter.name === call.tool ? call.effect : 'read'
    const verdict = judge(state.counters, { tool: counter.name, effect, retries: counter.retries, step: call.step, result: bounded })
    const { free, triesLeft, closes, until } = verdict
    const result: ToolError = free ? bounded : { ...bounded, details: { ...bounded.details, triesLeft } }
    emit({ ...resultEvent(call, result), ...more })
    if (free) return result
    const parameter = result.details?.parameter
    const counted = { callId: call.id, tool: counter.name }
    const at = parameter !== undefined && { parameter }
    emit({ type: 'tool.retry', ...counted, step: call.step, errorType: result.errorType, triesLeft, ...at })
    if (closes && !closedUntil(state.counters, counter.name)) emit({ type: 'tool.closed', ...counted, until })
    return result
  }

  function hold(call: ReadyCall, by: 1 | -1): void {
    const key = keyOf(call)
    const held = (inFlight.get(key) ?? 0) + by
    if (held > 0) inFlight.set(key, held)
    else inFlight.delete(key)
  }

  return {
    prepare,
    decide,
    execute,
    settle: (call, result) => finish(call, result),
    effectOf: ({ name }) => effectOfName(typeof name === 'string' ? name : '', index),
    state: () => state,
    looping: () => isLooping(state.guard),
  }
}

/** With the effect of this very call. */
const as = (tool: Tool, effect: Effect): Tool => (tool.effect === effect ? tool : { ...tool, effect })

const ANSWERS = new Set<unknown>(['once', 'session', 'always', 'no', 'timeout', 'nobody'])

/** A name that is no tool's is refused without running, so nothing has to wait for it. */
function effectOfName(name: string, index: NameIndex<Tool>): Effect {
  const resolved = resolveName(name, index)
  return resolved.kind === 'tool' ? resolved.tool.effect : 'read'
}
