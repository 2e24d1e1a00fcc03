/**
 * The executor of one turn: turns whatever a call comes to into exactly one result. In order: resolve name → parse →
 * coerce → validate ({@link resolveCall}) → closed, guard, limits → policy and approval → run (timeout, abort, backoff,
 * breaker) → classify → bound → record. Nothing a tool or a model does makes it throw.
 */

import { clonePlain, hash, indexNames, type NameIndex, resolveName } from '@mulligan/repair'
import { heldCalls } from './call/held.ts'
import { completeHint } from './call/hint.ts'
import {
  type ApprovalRequest,
  about,
  actingOn,
  type CallRecord,
  type Decided,
  greaterEffect,
  keyOf,
  lockOf,
  type Performed,
  type Prepared,
  type PreparedCall,
  preparedCall,
  resultEvent,
  targetsOf,
} from './call/prepared-call.ts'
import { type ParsedCall, type ResolvedCall, resolveCall } from './call/resolve-call.ts'
import type { ApprovalDecision, ToolEvent } from './events.ts'
import { DEFAULT_RESULT_TOKENS, type Executor, type ExecutorOptions } from './executor-options.ts'
import type { ProposedChanges } from './layer.ts'
import { defaultPolicy } from './policy.ts'
import { decideOnTargets } from './policy-targets.ts'
import { notOk, type ToolError, type ToolResult } from './result.ts'
import { bound } from './run/bound.ts'
import { runTool, systemClock } from './run/run-tool.ts'
import { createBreakers } from './run/transient.ts'
import type { Effect, Tool } from './tool.ts'
import { awaitsAnswer, grants, hasBegun, isGranted } from './turn/approvals.ts'
import { closedUntil, countFailure } from './turn/counters.ts'
import { earlierDenial } from './turn/denials.ts'
import { BLOCK_AT, isLooping, repeats, WARN_AT } from './turn/guard.ts'
import { acknowledged, type IndeterminateCall, locate, NONE_INDETERMINATE, overlapping, withTargets } from './turn/indeterminate.ts'
import { checkNote, whyUncertain } from './turn/indeterminate-text.ts'
import { DEFAULT_LIMITS, limitReached, NOTHING_SPENT } from './turn/limits.ts'
import * as refuse from './turn/refusals.ts'
import { NEW_TURN, reduceTurn, type TurnState } from './turn/state.ts'

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
  const before = (options.indeterminate ?? []).map(withResolvedName).map((call) => locate(call, toolOf(call)))
  let state: TurnState = { ...NEW_TURN, ...options.tainted, indeterminate: { ...NONE_INDETERMINATE, calls: before } }
  const values = new WeakMap<PreparedCall, unknown>()
  /** Prepared calls that have no outcome yet, by id, with what tells repeats: parallel copies of one call count as repeats of it. */
  const inFlight = new Map<string, string>()
  /** Effects that were given up on and still run: they keep their lock. */
  const stillRunning = new Map<string, string>()
  const lateNews: string[] = []
  let effects: Promise<unknown> = Promise.resolve()

  function toolOf({ tool }: { readonly tool: string }): Tool | undefined {
    return index.exact.get(tool)?.tool
  }

  /** A call that was never prepared has the name that the model gave it, which may be an alias. */
  function withResolvedName<Call extends { readonly tool: string }>(call: Call): Call {
    const resolved = resolveName(call.tool, index)
    return resolved.kind === 'tool' ? { ...call, tool: resolved.tool.name } : call
  }

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
      // Logging failed; ignore.
    }
  }

  async function prepare(call: ParsedCall): Promise<Prepared> {
    const resolved = await resolveCall(call, index)
    if (resolved.thrown !== undefined) log(call.id, resolved.tool?.name ?? '', resolved.thrown)
    const ready = await inConversation(preparedCall(call, resolved), resolved)
    const { step, ordinal, requestedTool, effect } = ready
    const asked = requestedTool !== undefined && { requestedTool }
    emit({ type: 'tool.call', ...about(ready), step, ordinal, ...asked, input: resolved.input, effect, ...actingOn(ready) })
    for (const repair of resolved.repairs) emit({ type: 'tool.repaired', ...about(ready), repair })
    const refusal = cancelled() ?? closed(resolved) ?? resolved.refusal ?? loop(ready, resolved.tool) ?? overLimit()
    if (refusal) return refused(ready, refusal, resolved)
    values.set(ready, resolved.value)
    return decideByPolicy(ready)
  }

  /** What the call comes to here: an effect that is greater than its tool's, secret files that it would open. */
  async function inConversation(call: PreparedCall, { tool, refusal, value }: ResolvedCall): Promise<PreparedCall> {
    if (!tool || refusal) return call
    try {
      let { effect } = call
      for (const target of targetsOf(call)) effect = greaterEffect(effect, options.effectOf?.({ ...call, target }) ?? effect)
      const secrets = (tool.secrets && (await tool.secrets(value as never))) ?? []
      // What leaves the machine is asked about beforehand.
      const confinement = effect !== 'external' && tool.layer && (await tool.layer.confinement(value as never))
      const isConfined = confinement === 'layer' || confinement === 'read-only'
      if (effect === call.effect && !isConfined && secrets.length === 0) return call
      return {
        ...call,
        ...(isConfined ? { effect: 'read', confinement } : { effect }),
        ...(secrets.length > 0 && { secrets }),
      }
    } catch (error) {
      // Not knowing is not permission: the call opens no secret file then, and sends nothing unasked.
      log(call.id, call.tool, error)
      return { ...call, effect: 'external' }
    }
  }

  /** Secret files that the call would open and that only a person can allow. */
  const unnamed = ({ secrets = [] }: PreparedCall): readonly string[] => secrets.filter((path) => !isNamed(path))

  /** The refusal of a call that opens some which nobody has allowed. */
  function noSecrets(call: PreparedCall): ToolError | undefined {
    const paths = unnamed(call)
    return paths.length > 0 ? refuse.denied('nobody', refuse.secretsUnattended(paths)) : undefined
  }

  const askModel = ({ doubt }: PreparedCall): ToolError | undefined => (doubt === undefined ? undefined : refuse.notMeant(doubt))

  const refused = async (call: PreparedCall, refusal: ToolError, done?: Done): Promise<Decided> => ({
    kind: 'result',
    record: await finish(call, refusal, done),
  })

  const cancelled = (): ToolError | undefined => (signal?.aborted ? refuse.cancelled() : undefined)

  function closed({ counter, tool }: ResolvedCall): ToolError | undefined {
    const name = tool && closedUntil(state.counters, tool.name) ? tool.name : counter.name
    const until = closedUntil(state.counters, name)
    return until && refuse.closed(name, until)
  }

  /** Warns of a repeated call, and refuses it the next time. */
  function loop(call: PreparedCall, tool: Tool | undefined): ToolError | undefined {
    if (!tool || tool.polls) return undefined
    const times = repeats(state.guard, call) + [...inFlight.values()].filter((key) => key === keyOf(call)).length
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

  async function decideByPolicy(call: PreparedCall): Promise<Prepared> {
    const { id, tool, effect, input, target } = call
    const targets = targetsOf(call)
    const denial = earlierDenial(state.denials, tool, keysOfTargets(call, targets))
    if (denial !== undefined) return refused(call, refuse.denied('before', denial))
    const decided = decideOnTargets(policy, { tool, effect, input }, targets, (error) => log(id, tool, error))
    const { decision, reason, forced: byPolicy = false } = decided
    if (decision === 'deny') return refused(call, refuse.denied('policy', reason))
    if (call.confinement !== undefined) {
      // Nothing takes effect by running it: what it did on a layer is decided about afterwards.
      hold(call)
      return { kind: 'ready', call }
    }
    const uncertain = uncertainFor(call)
    const unopened = unnamed(call)
    const reasons = [
      ...(uncertain.length > 0 ? [whyUncertain(uncertain, new Set(stillRunning.values()))] : []),
      ...(effect === 'external' && state.untrusted ? [READ_FROM_OUTSIDE] : []),
      ...(effect === 'external' && state.secret ? [READ_SECRETS] : []),
      ...(unopened.length > 0 ? [refuse.opensSecrets(unopened)] : []),
      ...(byPolicy ? [reason] : []),
      ...(call.doubt !== undefined && effect !== 'read' ? [refuse.doubted(call.doubt)] : []),
    ]
    const forced = reasons.length > 0 ? reasons.join('; and ') : undefined
    hold(call)
    if (decision === 'allow' && forced === undefined) return { kind: 'ready', call }
    const named = uncertain.length > 0 && { indeterminate: uncertain.map(({ id }) => id) }
    const question = { ...about(call), target, reason: forced ?? reason, forced: forced !== undefined, ...named }
    emit({ type: 'tool.approval.required', ...question })
    const asks = decided.asks.length > 0 ? decided.asks : targets.map((one) => ({ target: one, reason: question.reason }))
    return { kind: 'approval', call, request: { ...question, effect, input, asks } }
  }

  /** The calls that may have taken effect and that this one might repeat. */
  function uncertainFor(call: PreparedCall): readonly IndeterminateCall[] {
    const { calls } = state.indeterminate
    if (calls.length === 0 || call.effect === 'read') return []
    const { id, tool, input } = call
    return overlapping(calls, withTargets({ id, tool, input }, targetsOf(call)), toolOf(call)?.indeterminateScope ?? 'tool')
  }

  /** What a no to these targets is remembered by. */
  function keysOfTargets({ id, tool, input }: PreparedCall, targets: readonly string[]): readonly string[] {
    const denialKeys = toolOf({ tool })?.denialKeys
    if (!denialKeys) return targets
    try {
      const keys = targets.map((target) => denialKeys(input as never, target))
      return keys.flatMap((some, at) => (some.length > 0 ? some : targets.slice(at, at + 1)))
    } catch (error) {
      log(id, tool, error)
      return targets
    }
  }

  const held = heldCalls({
    policy,
    isStopped: () => signal?.aborted === true,
    layerOf: (call) => toolOf(call)?.layer,
    uncertainty: (call) => {
      const uncertain = uncertainFor(call)
      return uncertain.length === 0
        ? undefined
        : { ids: uncertain.map(({ id }) => id), reason: whyUncertain(uncertain, new Set(stillRunning.values())) }
    },
    notPermitted,
    recordIntent,
    resolve,
    finish,
    emit,
    log,
  })
  const apply: Executor['apply'] = (call, decision) => inOrder(() => held.apply(call, decision))

  /** Puts an answer on record. What is none counts as nobody's. */
  function resolve(call: PreparedCall, request: ApprovalRequest, decision: ApprovalDecision): ApprovalDecision {
    const known = ANSWERS.has(decision?.answer) ? decision : ({ answer: 'nobody' } as const)
    const keys = keysOfTargets(
      call,
      request.asks.map(({ target }) => target),
    )
    emit({ type: 'tool.approval.resolved', ...about(call), target: request.target, keys, decision: known })
    return known
  }

  async function decide(call: PreparedCall, request: ApprovalRequest, decision: ApprovalDecision): Promise<Decided> {
    const { answer, reason } = resolve(call, request, decision)
    if (grants(answer)) return { kind: 'ready', call }
    inFlight.delete(call.id)
    const unattended = answer === 'nobody' ? (noSecrets(call) ?? askModel(call)) : undefined
    return refused(call, cancelled() ?? unattended ?? refuse.denied(answer, reason))
  }

  async function execute(call: PreparedCall): Promise<CallRecord> {
    const performed = await perform(call)
    return performed.kind === 'result' ? performed.record : apply(performed, { answer: 'nobody' })
  }

  const perform = (call: PreparedCall): Promise<Performed> =>
    call.effect === 'read' && call.confinement !== 'layer' ? run(call) : inOrder(() => run(call))

  /** Effects one after the other. */
  function inOrder<T>(work: () => Promise<T>): Promise<T> {
    const mine = effects.then(work)
    effects = mine.catch(() => undefined)
    return mine
  }

  async function run(call: PreparedCall): Promise<Performed> {
    const tool = toolOf(call)
    const started = clock.now()
    let changes: ProposedChanges | undefined
    const done = async (result: ToolResult, more?: Done): Promise<Performed> => ({
      kind: 'result',
      record: await finish(call, result, more),
    })
    try {
      const refusal = cancelled() ?? notPermitted(call)
      if (refusal) return await done(refusal)
      if (!tool) return await done(notOk('unknown_tool', `There is no tool named "${call.tool}" any more.`, { status: 'failed' }))
      const lock = stillRunning.get(lockOf(call))
      if (lock !== undefined) return await done(refuse.stillRunning(call.tool, lock))
      const inputHash = hash(call.inputKey)
      if (!(await recordIntent(call, inputHash))) return await done(refuse.unrecorded(call.tool))
      const { result, attempts, late } = await runTool(as(tool, call.effect), await inputOf(call, tool), {
        callId: call.id,
        idempotencyKey: `${call.id}.${inputHash}`,
        signal,
        graceMs,
        clock,
        breakers,
        log: (error) => log(call.id, call.tool, error),
        mayRetry: (attempt) => recordIntent(call, inputHash, attempt),
        progress: (attempt, message) => emit({ type: 'tool.delta', ...about(call), attempt, message }),
        secrets: call.secrets,
        confinement: call.confinement,
        propose:
          call.confinement === 'layer'
            ? (proposed) => {
                changes = proposed
              }
            : undefined,
      })
      if (late) awaitLate(call, tool, late, attempts, started)
      const ran = { result, attempts, durationMs: clock.now() - started }
      return changes ? await held.decide(call, changes, ran) : await done(result, ran)
    } catch (error) {
      log(call.id, call.tool, error)
      const begun = hasBegun(state.approvals, call.id)
      return await done(refuse.broken(call.tool, begun), { durationMs: clock.now() - started })
    } finally {
      inFlight.delete(call.id)
    }
  }

  /** What has changed since the call was prepared, and what a caller may not skip. */
  function notPermitted(call: PreparedCall): ToolError | undefined {
    const { id, tool, effect } = call
    const refusal = isGranted(state.approvals, id) ? undefined : noSecrets(call)
    if (refusal || effect === 'read') return refusal
    if (hasBegun(state.approvals, id)) return refuse.alreadyRun(tool)
    if (awaitsAnswer(state.approvals, id)) return refuse.denied('nobody')
    const denial = earlierDenial(state.denials, tool, keysOfTargets(call, targetsOf(call)))
    if (denial !== undefined) return refuse.denied('before', denial)
    // An approval counts for what the person was told: not for a call that was cut off after the question.
    const known = acknowledged(state.indeterminate, id)
    return uncertainFor(call).every((one) => known.includes(one.id)) ? undefined : refuse.uncertain(tool)
  }

  /** The intent is recorded before each attempt; an effect, or a further attempt, that can't be recorded is not run. */
  async function recordIntent({ id, tool, effect }: PreparedCall, inputHash: string, attempt?: number): Promise<boolean> {
    try {
      await emit({ type: 'tool.started', callId: id, tool, effect, inputHash, ...(attempt && { attempt }) })
      return true
    } catch (error) {
      log(id, tool, error)
      return effect === 'read' && !attempt
    }
  }

  async function inputOf(call: PreparedCall, tool: Tool): Promise<unknown> {
    // A copy: what a tool does to its input must not change what is on record.
    if (values.has(call)) return clonePlain(values.get(call))
    const checked = await tool.check.check(call.input)
    return clonePlain(checked.ok ? checked.value : call.input)
  }

  /** The tool runs on after it was given up: it keeps its lock, and its outcome is recorded when it comes. */
  function awaitLate(call: PreparedCall, tool: Tool, late: Promise<ToolResult>, attempts: number, started: number): void {
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
    readonly counter?: ResolvedCall['counter']
    /** As it came, when it could not be read. */
    readonly input?: unknown
    /** Paths of the changes that were kept. */
    readonly changed?: readonly string[]
  }

  /** The one place where a result is completed, bounded, counted and recorded. */
  async function finish(call: PreparedCall, raw: ToolResult, done: Done = {}): Promise<CallRecord> {
    const { attempts = 0, durationMs = 0 } = done
    const tool = toolOf(call)
    const hinted = raw.ok || !tool ? raw : await completeHint(raw, tool, call.input, index)
    const unknown = !raw.ok && raw.status === 'indeterminate' && call.effect !== 'read' ? [checkNote(call, tool?.indeterminateScope)] : []
    const notes = [...(hinted.notes ?? []), ...unknown, ...call.notes, ...lateNews.splice(0)]
    const marked = call.secrets ? { ...hinted, secret: true as const } : hinted
    const result = record(
      call,
      await bounded(notes.length > 0 ? { ...marked, notes } : marked, call.id),
      done.counter ?? { name: call.tool, retries: tool?.retries ?? 0 },
      { attempts, durationMs, ...(attempts > 0 && trustOf(tool)), ...(done.changed && { changed: done.changed }) },
    )
    const { notes: _, inputKey: __, secrets: ___, confinement: ____, ...rest } = call
    return { ...rest, input: done.input ?? call.input, attempts, result, durationMs, ...(done.changed && { changed: done.changed }) }
  }

  /** Counts a wrong call and writes down what happened. Without a pause, so that parallel calls are judged one after another. */
  function record(
    call: PreparedCall,
    bounded: ToolResult,
    counter: ResolvedCall['counter'],
    more: Pick<Extract<ToolEvent, { readonly type: 'tool.result' }>, 'attempts' | 'durationMs' | 'untrusted' | 'changed'>,
  ): ToolResult {
    const wrong = !bounded.ok && bounded.status === 'retry'
    // With its outcome on record it would count twice.
    inFlight.delete(call.id)
    if (!wrong) {
      emit({ ...resultEvent(call, bounded), ...more })
      return bounded
    }
    const effect = counter.name === call.tool ? call.effect : 'read'
    const verdict = countFailure(state.counters, { tool: counter.name, effect, retries: counter.retries, step: call.step, result: bounded })
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

  const hold = (call: PreparedCall) => inFlight.set(call.id, keyOf(call))

  function replay(events: readonly ToolEvent[], prepared?: PreparedCall): void {
    state = events.reduce(reduceTurn, state)
    for (const { callId } of events) inFlight.delete(callId)
    if (prepared) hold(prepared)
  }

  return {
    prepare,
    decide,
    execute,
    perform,
    apply,
    settle: (call, result, attempts = 0) => finish(withResolvedName(call), result, { attempts }),
    replay,
    effectOf: ({ name }) => effectOfName(typeof name === 'string' ? name : '', index),
    state: () => state,
    looping: () => isLooping(state.guard),
  }
}

const READ_FROM_OUTSIDE = 'this session has read content from outside, which may have asked for this'
const READ_SECRETS = 'this session has asked for a file with keys or passwords, and this leaves the machine'

/** With the effect of this very call. */
const as = (tool: Tool, effect: Effect): Tool => (tool.effect === effect ? tool : { ...tool, effect })

const ANSWERS = new Set<unknown>(['once', 'session', 'always', 'no', 'timeout', 'nobody'])

/** A name that is not a tool's is refused without running, so nothing has to wait for it. */
function effectOfName(name: string, index: NameIndex<Tool>): Effect {
  const resolved = resolveName(name, index)
  return resolved.kind === 'tool' ? resolved.tool.effect : 'read'
}
