/**
 * The executor of one turn: turns every call into exactly one result, whatever happens. In order: resolve name → parse → coerce →
 * validate ({@link resolveCall}) → closed, guard, limits → policy and approval → run (timeout, abort, backoff, breaker) → classify →
 * bound → record. Nothing a tool or a model does makes it throw.
 */

import { clonePlain, equal, hash, indexNames, type NameIndex, resolveName } from '@mulligan/repair'
import { createApproval } from './approval.ts'
import {
  about,
  actingOn,
  type CallRecord,
  greaterEffect,
  type HeldCall,
  keyOf,
  lockOf,
  type Performed,
  type Prepared,
  type PreparedCall,
  preparedCall,
  targetsOf,
} from './call/prepared-call.ts'
import { type ResolvedCall, resolveCall } from './call/resolve-call.ts'
import type { Executor, ExecutorOptions } from './executor-options.ts'
import type { ProposedChanges } from './layer.ts'
import { decideOnChanges, decideOnTargets, defaultPolicy, strictestOf, type TargetsDecision } from './policy.ts'
import { createRecorder, type Done } from './recorder.ts'
import { notOk, type ToolError } from './result.ts'
import { failureOf, fromThrown } from './run/classify.ts'
import { runTool, systemClock } from './run/run-tool.ts'
import { createBreakers } from './run/transient.ts'
import type { Effect, Tool } from './tool.ts'
import { closedUntil } from './turn/counters.ts'
import { BLOCK_AT, isLooping, repeats, WARN_AT } from './turn/guard.ts'
import { DEFAULT_LIMITS } from './turn/limits.ts'
import { earlierDenial, grants, hasBegun } from './turn/permission.ts'
import * as refuse from './turn/refusals.ts'

const indexes = new WeakMap<readonly Tool[], NameIndex<Tool>>()

/** @throws TypeError when two tools have the same name */
export function indexOf(tools: readonly Tool[]): NameIndex<Tool> {
  const index = indexes.get(tools) ?? indexNames(tools)
  indexes.set(tools, index)
  return index
}

/**
 * Creates an executor for one turn. State is not shared: two turns have no counters, closed tools or denials in common.
 * @throws TypeError when two tools have the same name
 * @example
 * const executor = createExecutor({ tools: [search] })
 * const prepared = await executor.prepare({ id: 't1/1/0', step: 1, ordinal: 0, name: 'search', input: '{"query":"x"}' })
 * if (prepared.kind === 'ready') console.log(render((await executor.execute(prepared.call)).result))
 */
export function createExecutor(options: ExecutorOptions): Executor {
  const { tools, policy = defaultPolicy, signal, graceMs = 1000, clock = systemClock, isNamed = () => false } = options
  const { maxCalls = DEFAULT_LIMITS.calls, breakers = createBreakers(), isUnsupervised = () => false } = options
  const callsAllowed = (): number => (typeof maxCalls === 'number' ? maxCalls : maxCalls())
  const index = indexOf(tools)
  const recorder = createRecorder(options, index, clock)
  const { toolOf, withResolvedName, emit, log, finish, awaitLate, hold, inFlight, stillRunning, replay, state } = recorder
  const { noSecrets, askModel, whyAsk, question, keysOfTargets, resolve, notPermitted } = createApproval(recorder, isNamed, isUnsupervised)
  const values = new WeakMap<PreparedCall, unknown>()
  let effects: Promise<unknown> = Promise.resolve()

  const prepare: Executor['prepare'] = async (call) => {
    const resolved = await resolveCall(call, index, options.refine)
    const { tool, input, repairs, thrown } = resolved
    if (thrown !== undefined) log(call.id, tool?.name ?? '', thrown)
    const own = preparedCall(call, resolved)
    const isKnown = !tool || resolved.refusal || !(options.effectOf || tool.secrets || tool.layer)
    const ready = isKnown ? own : await inConversation(own, tool, resolved.value)
    const { step, ordinal, requestedTool, effect } = ready
    const asked = requestedTool !== undefined && { requestedTool }
    emit({ type: 'tool.call', ...about(ready), step, ordinal, ...asked, input, effect, ...actingOn(ready) })
    for (const repair of repairs) emit({ type: 'tool.repaired', ...about(ready), repair })
    const begun = options.state && hasBegun(options.state.approvals, call.id) ? refuse.interrupted(ready.tool) : undefined
    if (begun) return refused(ready, begun, { ...resolved, attempts: 1 })
    const refusal = cancelled() ?? closed(resolved) ?? resolved.refusal ?? loop(ready, tool) ?? overLimit()
    if (refusal) return refused(ready, refusal, resolved)
    values.set(ready, resolved.value)
    const decided = decideByPolicy(ready)
    return 'kind' in decided ? decided : refused(ready, decided)
  }

  /** Adds what the conversation contributes: an effect greater than the tool's, and the secret files the call would open. */
  async function inConversation(call: PreparedCall, tool: Tool, value: unknown): Promise<PreparedCall> {
    try {
      let { effect } = call
      for (const target of targetsOf(call)) effect = greaterEffect(effect, options.effectOf?.({ ...call, target }) ?? effect)
      const secrets = (tool.secrets && (await tool.secrets(value as never))) ?? []
      // Calls that leave the machine are asked about beforehand.
      const confinement = effect !== 'external' && tool.layer && (await tool.layer.confinement(value as never))
      const isConfined = confinement === 'layer' || confinement === 'read-only'
      if (effect === call.effect && !isConfined && secrets.length === 0) return call
      return {
        ...call,
        ...(isConfined ? { effect: 'read', confinement } : { effect }),
        ...(secrets.length > 0 && { secrets }),
      }
    } catch (error) {
      // If the check fails, nothing is permitted: the call may not open secret files or send anything without approval.
      log(call.id, call.tool, error)
      return { ...call, effect: 'external' }
    }
  }

  const refused = async (call: PreparedCall, refusal: ToolError, done?: Done) =>
    ({ kind: 'result', record: await finish(call, refusal, done) }) as const

  const cancelled = (): ToolError | undefined => (signal?.aborted ? refuse.cancelled() : undefined)

  function closed({ counter, tool }: ResolvedCall): ToolError | undefined {
    if (options.budgets === false) return undefined
    const { counters } = state()
    const name = tool && closedUntil(counters, tool.name) ? tool.name : counter.name
    const until = closedUntil(counters, name)
    return until && refuse.closed(name, until)
  }

  /** Warns about a repeated call and refuses it the next time. */
  function loop(call: PreparedCall, tool: Tool | undefined): ToolError | undefined {
    if (!tool || tool.polls || options.guard === false) return undefined
    let times = repeats(state().guard, call)
    for (const key of inFlight.values()) if (key === keyOf(call)) times++
    if (times < WARN_AT - 1) return undefined
    const blocked = times >= BLOCK_AT - 1
    emit({ type: 'guard.warning', ...about(call), step: call.step, repeats: times, blocked })
    if (blocked) return refuse.looping(times)
    call.notes.push(refuse.loopWarning(times + 1))
    return undefined
  }

  const overLimit = (): ToolError | undefined =>
    state().calls > callsAllowed() ? refuse.overLimit({ limit: 'calls', max: callsAllowed() }) : undefined

  const logged =
    ({ id, tool }: PreparedCall) =>
    (error: unknown) =>
      log(id, tool, error)

  /** Decides on the input as the model sent it and as the tool gets it, because a schema may trim, complete or rename what is in it. */
  function strictest(call: PreparedCall, decide: (input: PreparedCall['input']) => TargetsDecision): TargetsDecision {
    const changed = withChanges(call.input, values.get(call))
    return equal(changed, call.input) ? decide(call.input) : strictestOf(decide(call.input), decide(changed))
  }

  /** Returns a refusal, a question for a person, or the call, ready to run. */
  function decideByPolicy(call: PreparedCall): ToolError | Exclude<Prepared, { readonly kind: 'result' }> {
    const { tool, effect } = call
    const targets = targetsOf(call)
    const denial = earlierDenial(state().denials, tool, keysOfTargets(call, targets))
    if (denial !== undefined) return refuse.denied('before', denial)
    const decided = strictest(call, (input) => decideOnTargets(policy, { tool, effect, input }, targets, logged(call)))
    if (decided.decision === 'deny') return refuse.denied('policy', decided.reason)
    hold(call)
    // Running a confined call has no effect: the changes on its layer are decided afterwards.
    const request = call.confinement === undefined ? question(call, decided, whyAsk(call)) : undefined
    return request ? { kind: 'approval', call, request } : { kind: 'ready', call }
  }

  const decide: Executor['decide'] = async (call, request, decision) => {
    const { answer, reason } = resolve(call, request, decision)
    if (grants(answer)) return { kind: 'ready', call }
    inFlight.delete(call.id)
    const unattended = answer === 'nobody' ? (noSecrets(call) ?? askModel(call)) : undefined
    // The turn of a question that another message superseded is closed, which is not why the call was refused.
    const stopped = answer === 'superseded' ? undefined : cancelled()
    return refused(call, stopped ?? unattended ?? refuse.denied(answer, reason))
  }

  async function execute(call: PreparedCall): Promise<CallRecord> {
    const performed = await perform(call)
    return performed.kind === 'result' ? performed.record : apply(performed, { answer: 'nobody' })
  }

  const perform: Executor['perform'] = (call, firstAttempt = 1) =>
    (call.effect === 'read' || isUnsupervised(call.tool)) && call.confinement !== 'layer'
      ? run(call, firstAttempt)
      : inOrder(() => run(call, firstAttempt))

  /** Runs effects one at a time. */
  function inOrder<T>(work: () => Promise<T>): Promise<T> {
    const mine = effects.then(work)
    effects = mine.catch(() => undefined)
    return mine
  }

  async function run(call: PreparedCall, firstAttempt: number): Promise<Performed> {
    const { id: callId, confinement, secrets } = call
    const tool = toolOf(call)
    const started = clock.now()
    let changes: ProposedChanges | undefined
    try {
      const refusal = cancelled() ?? notPermitted(call)
      if (refusal) return await refused(call, refusal)
      if (!tool) return await refused(call, notOk('unknown_tool', `There is no tool named "${call.tool}" any more.`, { status: 'failed' }))
      const lock = isUnsupervised(call.tool) ? undefined : stillRunning.get(lockOf(call))
      if (lock !== undefined) return await refused(call, refuse.stillRunning(call.tool, lock))
      const inputHash = hash(call.inputKey)
      const attempt = firstAttempt > 1 ? firstAttempt : undefined
      if (!(await recordIntent(call, inputHash, attempt))) return await refused(call, refuse.unrecorded(call.tool))
      const input = values.has(call) ? values.get(call) : await checkedInput(call, tool)
      values.set(call, input)
      // Pass a copy: the tool must not be able to change the recorded input.
      const { result, attempts, late } = await runTool(as(tool, call.effect), clonePlain(input), {
        callId,
        idempotencyKey: `${callId}.${inputHash}`,
        firstAttempt,
        signal,
        graceMs,
        clock,
        breakers,
        log: logged(call),
        failed: (error) => failureOf(error, tool, options),
        mayRetry: (attempt) => recordIntent(call, inputHash, attempt),
        progress: (attempt, message) => emit({ type: 'tool.delta', ...about(call), attempt, message }),
        secrets,
        confinement,
        propose:
          confinement === 'layer'
            ? (proposed) => {
                changes = proposed
              }
            : undefined,
      })
      if (late) awaitLate(call, late, attempts, started)
      const ran = { result, attempts, durationMs: clock.now() - started }
      return changes ? await decideOn(call, changes, ran) : { kind: 'result', record: await finish(call, result, ran) }
    } catch (error) {
      log(callId, call.tool, error)
      const begun = hasBegun(state().approvals, callId)
      return await refused(call, refuse.broken(call.tool, begun), { durationMs: clock.now() - started })
    } finally {
      inFlight.delete(callId)
    }
  }

  /** Records the intent before each attempt. If that fails, an effect or a further attempt does not run. */
  async function recordIntent({ id, tool, effect }: PreparedCall, inputHash: string, attempt?: number): Promise<boolean> {
    try {
      await emit({ type: 'tool.started', callId: id, tool, effect, inputHash, ...(attempt && { attempt }) })
      return true
    } catch (error) {
      log(id, tool, error)
      return effect === 'read' && !attempt
    }
  }

  async function checkedInput({ input }: PreparedCall, tool: Tool): Promise<unknown> {
    const checked = await tool.check.check(input)
    return checked.ok ? checked.value : input
  }

  /** Lets the policy or a person decide whether to keep the changes of a call that ran on a throwaway layer. */
  async function decideOn(confined: PreparedCall, changes: ProposedChanges, ran: HeldCall['ran']): Promise<Performed> {
    const call: PreparedCall = { ...confined, effect: 'write' }
    const { tool, effect } = call
    const result = async (record: Promise<CallRecord>): Promise<Performed> => ({ kind: 'result', record: await record })
    if (signal?.aborted) return result(discard(call, changes, refuse.cancelled(), ran))
    const decided = strictest(confined, (input) =>
      decideOnChanges(policy, { tool, effect, input }, targetsOf(call), changes.targets, logged(call)),
    )
    if (decided.decision === 'deny') return result(discard(call, changes, refuse.denied('policy', decided.reason), ran))
    const request = question(call, decided, changes.forced === undefined ? [] : [changes.forced], changes)
    return request ? { kind: 'held', call, request: { ...request, changes }, ran } : result(keep(call, changes, ran))
  }

  const apply: Executor['apply'] = ({ call, request, ran }, decision) =>
    inOrder(async () => {
      const { answer, reason } = resolve(call, request, decision)
      if (signal?.aborted && answer !== 'superseded') return discard(call, request.changes, refuse.cancelled(), ran)
      if (grants(answer)) return keep(call, request.changes, ran)
      const unmeant = answer === 'nobody' ? askModel(call) : undefined
      return discard(call, request.changes, unmeant ?? refuse.denied(answer, reason), ran)
    })

  const park: Executor['park'] = async ({ call, request }) => {
    await toolOf(call)?.layer?.park?.(request.changes).catch(logged(call))
  }

  async function keep(call: PreparedCall, changes: ProposedChanges, ran: HeldCall['ran']): Promise<CallRecord> {
    try {
      const layer = toolOf(call)?.layer
      const refusal = notPermitted(call)
      if (refusal || !layer) return await discard(call, changes, refusal ?? refuse.broken(call.tool, false), ran)
      if (!(await recordIntent(call, changes.hash))) return await discard(call, changes, refuse.unrecorded(call.tool), ran)
      const notes = await layer.keep(changes, call.id)
      const result = { ...ran.result, notes: [...(ran.result.notes ?? []), ...notes] }
      return await finish(call, result, { ...ran, changed: changes.targets })
    } catch (error) {
      log(call.id, call.tool, error)
      return discard(call, changes, fromThrown(error, call.tool), ran)
    }
  }

  async function discard(call: PreparedCall, changes: ProposedChanges, why: ToolError, ran: HeldCall['ran']): Promise<CallRecord> {
    await toolOf(call)?.layer?.discard(changes).catch(logged(call))
    return finish({ ...call, effect: 'read' }, refuse.discarded(why, ran.result, changes.summary), ran)
  }

  return {
    prepare,
    decide,
    execute,
    perform,
    apply,
    park,
    settle: (call, result, attempts = 0) => finish(withResolvedName(call), result, { attempts }),
    replay,
    isIdempotent: (call) => toolOf(call)?.idempotent === true,
    effectOf: ({ name }) => effectOfName(typeof name === 'string' ? name : '', index),
    state,
    looping: () => isLooping(state().guard),
  }
}

/**
 * The input with what a schema has changed in it, as JSON. Parameters of which the schema has made another kind of value stay as they
 * were, unless they were null or absent.
 */
function withChanges(input: PreparedCall['input'], value: unknown): PreparedCall['input'] {
  if (kindOf(value) !== 'object') return input
  try {
    const changed = Object.keys(value as object).flatMap((key) => {
      const plain = asJson(() => Reflect.get(value as object, key))
      const sent = Object.hasOwn(input, key) ? input[key] : null
      return plain !== undefined && (sent === null || kindOf(plain) === kindOf(sent)) ? [[key, plain] as const] : []
    })
    return { ...input, ...Object.fromEntries(changed) }
  } catch {
    return input
  }
}

const kindOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value)

/** The member as JSON; undefined if it can't be read or written, or consists of bytes. */
function asJson(read: () => unknown): unknown {
  try {
    const member = read()
    if (typeof member === 'string') return member
    return ArrayBuffer.isView(member)
      ? undefined
      : JSON.parse(JSON.stringify(member, (_, one) => (typeof one === 'bigint' ? String(one) : one)))
  } catch {
    return undefined
  }
}

/** Returns the tool with the effect of this particular call. */
const as = (tool: Tool, effect: Effect): Tool => (tool.effect === effect ? tool : { ...tool, effect })

/** Returns the effect of a tool name. An unknown name is refused without running, so nothing has to wait for it. */
function effectOfName(name: string, index: NameIndex<Tool>): Effect {
  const resolved = resolveName(name, index)
  return resolved.kind === 'tool' ? resolved.tool.effect : 'read'
}
