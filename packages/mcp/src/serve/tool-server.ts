/** A server of the protocol with tools of the engine. Every call goes through the executor. */
import { randomUUID } from 'node:crypto'
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type InputRequiredResult,
  inputRequired,
  type ListToolsResult,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { ApprovalDecision, ApprovalRequest, CallRecord, Policy, Tool } from '@mulligan/core'
import {
  createExecutor,
  type Executor,
  type ExecutorOptions,
  type HeldCall,
  indexNames,
  type Prepared,
  resolveName,
  type Tainted,
} from '@mulligan/core/executor'
import { isRecord } from '@mulligan/repair'
import { createOutputs, READ_OUTPUT, READ_OUTPUT_TOOL, readCall } from '../proxy/output.ts'
import { listed, resultOf } from './results.ts'

export interface ToolServerOptions extends Pick<ExecutorOptions, 'spill' | 'log' | 'errors'> {
  readonly name: string
  readonly version: string
  readonly tools: readonly Tool[]
  readonly policy: Policy
  /** Decides without the client's person; `nobody` if it can't. */
  readonly approve: (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalDecision>
  /** Whether results also have structured content, by an output schema. Default: true. */
  readonly structured?: boolean
}

/** A call. Its latest request is the one that can be cancelled, and that progress goes to. */
interface Running {
  readonly executor: Executor
  readonly stop: AbortController
  request: ServerContext['mcpReq']
}

/** A call that waits for the client's person. */
interface Waiting {
  readonly running: Running
  readonly at: Extract<Prepared, { kind: 'approval' }> | HeldCall
}

interface Params {
  readonly name: string
  readonly arguments?: Record<string, unknown> | undefined
}

/** Questions that are kept for a client that never answers them. */
const MAX_WAITING = 100

/** Characters of a page of an output that was too long. */
const PAGE = 20_000

/** @returns a function that creates a server for a connection. The servers share what their calls have read */
export function createToolServer({
  name,
  version,
  tools,
  policy,
  approve,
  structured = true,
  spill,
  ...more
}: ToolServerOptions): () => Server {
  const outputs = createOutputs(PAGE)
  const pages = spill ? [] : [READ_OUTPUT_TOOL]
  const waiting = new Map<string, Waiting>()
  const index = indexNames(tools)
  let tainted: Tainted = {}
  let count = 0
  /** Effects run one after another, in whatever order the client sends them. */
  let effects: Promise<unknown> = Promise.resolve()

  function server(): Server {
    const one = new Server({ name, version }, { capabilities: { tools: {} } })
    one.setRequestHandler('tools/list', () => ({ tools: [...tools.map((tool) => listed(tool, structured)), ...pages] }) as ListToolsResult)
    one.setRequestHandler('tools/call', ({ params }, ctx) => {
      if (pages.length > 0 && params.name === READ_OUTPUT) return outputs.read(params.arguments) as CallToolResult
      const work = (): Promise<CallToolResult | InputRequiredResult> => call(params, ctx, canElicit(one, ctx))
      const found = resolveName(params.name, index)
      if (found.kind === 'tool' && found.tool.effect === 'read') return work()
      const mine = effects.then(work)
      effects = mine.catch(() => undefined)
      return mine
    })
    return one
  }

  /** Makes a call, or goes on with one that waited for the client's person. A call may take several requests. */
  async function call(params: Params, { mcpReq }: ServerContext, canAsk: boolean): Promise<CallToolResult | InputRequiredResult> {
    const { signal, inputResponses = {} } = mcpReq
    const key = Object.keys(inputResponses).find((one) => waiting.has(one)) ?? ''
    const before = waiting.get(key)
    waiting.delete(key)
    const running = before?.running ?? begin(mcpReq)
    running.request = mcpReq
    const stop = (): void => running.stop.abort(signal.reason)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop)
    try {
      if (before) return await go(before, canAsk, decisionIn(inputResponses[key]))
      const input = params.arguments ?? {}
      const prepared = await running.executor.prepare({ id: `mcp/1/1/${++count}`, step: 1, ordinal: 0, name: params.name, input })
      return await continued(prepared, running, canAsk)
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  function begin(request: Running['request']): Running {
    const stop = new AbortController()
    const token = request._meta?.progressToken
    let progress = 0
    const executor = createExecutor({
      ...more,
      ...{ tools, policy, tainted, signal: stop.signal, spill: spill ?? (async (whole) => readCall(outputs.keep(whole), 1)) },
      // A client has no turns, so nothing is closed until one ends; its own limits apply.
      ...{ budgets: false, guard: false },
      onEvent: (event) => {
        if (event.type === 'tool.delta' && token !== undefined)
          void running.request.notify({
            method: 'notifications/progress',
            params: { progressToken: token, progress: ++progress, message: event.message },
          })
      },
    })
    const running: Running = { executor, stop, request }
    return running
  }

  async function continued(at: Prepared | HeldCall, running: Running, canAsk: boolean): Promise<CallToolResult | InputRequiredResult> {
    const { executor, stop } = running
    if (at.kind === 'result') return finished(at.record, executor)
    if (at.kind === 'ready') return continued(await executor.perform(at.call), running, canAsk)
    const decision = await approve(at.request, stop.signal)
    if (decision.answer !== 'nobody' || !canAsk) return go({ running, at }, canAsk, decision)
    const key = randomUUID()
    waiting.set(key, { running, at })
    for (const old of [...waiting.keys()].slice(0, -MAX_WAITING)) waiting.delete(old)
    return inputRequired({ inputRequests: { [key]: inputRequired.elicit({ message: questionOf(at.request), requestedSchema: ALLOW }) } })
  }

  async function go({ running, at }: Waiting, canAsk: boolean, decision: ApprovalDecision): Promise<CallToolResult | InputRequiredResult> {
    const { executor } = running
    if (at.kind === 'held') return finished(await executor.apply(at, decision), executor)
    return continued(await executor.decide(at.call, at.request, decision), running, canAsk)
  }

  function finished(record: CallRecord, executor: Executor): CallToolResult {
    const { untrusted, secret } = executor.state()
    tainted = { untrusted: tainted.untrusted === true || untrusted, secret: tainted.secret === true || secret }
    return resultOf(record, structured)
  }

  return server
}

/** From protocol version 2026-07-28 on, each request says what the client can do. */
function canElicit(server: Server, { mcpReq }: ServerContext): boolean {
  const envelope = mcpReq.envelope as Readonly<Record<string, unknown>> | undefined
  const can = envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities()
  return isRecord(can) && can['elicitation'] !== undefined
}

const ALLOW = {
  type: 'object' as const,
  properties: { allow: { type: 'boolean' as const, title: 'Allow it' }, reason: { type: 'string' as const, title: 'If not: why' } },
  required: ['allow'],
}

function decisionIn(response: unknown): ApprovalDecision {
  const { action, content } = isRecord(response) ? response : {}
  const { allow, reason } = isRecord(content) ? content : {}
  if (action === 'accept' && allow === true) return { answer: 'once' }
  return { answer: 'no', ...(typeof reason === 'string' && reason !== '' && { reason }) }
}

/** Characters of the input that a question shows. */
const MAX_INPUT = 2000

function questionOf({ tool, effect, target, input, reason, changes }: ApprovalRequest): string {
  const what = changes ? `${changes.summary}\n\n${changes.diff ?? ''}` : JSON.stringify(input, undefined, 2)
  return `Allow ${tool} (${effect}) ${target}?\nIt needs approval: ${reason}.\n\n${what.slice(0, MAX_INPUT)}`
}
