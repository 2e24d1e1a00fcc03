/** Serves tools of the engine to any MCP client, on stdin and stdout. Every call goes through the executor. */
import { randomUUID } from 'node:crypto'
import type { Readable, Writable } from 'node:stream'
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type InputRequiredResult,
  inputRequired,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { type ApprovalDecision, type ApprovalRequest, type CallRecord, type Policy, render, type Tool } from '@mulligan/core'
import {
  createExecutor,
  type Executor,
  type ExecutorOptions,
  type HeldCall,
  indexNames,
  type Prepared,
  renderParts,
  resolveName,
  type Tainted,
} from '@mulligan/core/executor'
import { isRecord } from '@mulligan/repair'

export interface ServeOptions extends Pick<ExecutorOptions, 'spill' | 'log' | 'errors'> {
  readonly name: string
  readonly version: string
  readonly tools: readonly Tool[]
  readonly policy: Policy
  /** Decides without the client's person; `nobody` if it can't. */
  readonly approve: (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalDecision>
  /** Where messages are read from. Default: stdin. */
  readonly stdin?: Readable
  /** Where messages are written. Default: stdout. */
  readonly stdout?: Writable
  readonly onError?: (error: Error) => void
}

export interface ServedTools {
  /** Resolves when the client has gone. */
  readonly closed: Promise<void>
  readonly close: () => Promise<void>
}

/** A call that waits for the client's person. */
interface Waiting {
  readonly executor: Executor
  readonly at: Extract<Prepared, { kind: 'approval' }> | HeldCall
}

/** Questions that are kept for a client that never answers them. */
const MAX_WAITING = 100

export function serveTools({ name, version, tools, policy, approve, stdin, stdout, onError, ...more }: ServeOptions): ServedTools {
  const gone = Promise.withResolvers<void>()
  const waiting = new Map<string, Waiting>()
  const index = indexNames(tools)
  let tainted: Tainted = {}
  let count = 0
  /** Effects run one after another, in whatever order the client sends them. */
  let effects: Promise<unknown> = Promise.resolve()

  function server(): Server {
    const one = new Server({ name, version }, { capabilities: { tools: {} } })
    one.setRequestHandler('tools/list', () => ({ tools: tools.map(listed) }))
    one.setRequestHandler('tools/call', ({ params }, ctx) => {
      const work = (): Promise<CallToolResult | InputRequiredResult> => call(params, ctx, canElicit(one, ctx))
      const found = resolveName(params.name, index)
      if (found.kind === 'tool' && found.tool.effect === 'read') return work()
      const mine = effects.then(work)
      effects = mine.catch(() => undefined)
      return mine
    })
    one.onclose = gone.resolve
    return one
  }

  async function call(
    params: { readonly name: string; readonly arguments?: Record<string, unknown> | undefined },
    { mcpReq }: ServerContext,
    canAsk: boolean,
  ): Promise<CallToolResult | InputRequiredResult> {
    const { signal, inputResponses = {} } = mcpReq
    const key = Object.keys(inputResponses).find((one) => waiting.has(one))
    const before = waiting.get(key ?? '')
    waiting.delete(key ?? '')
    if (before) return go(before, signal, canAsk, decisionIn(inputResponses[key ?? '']))
    const token = mcpReq._meta?.progressToken
    let progress = 0
    const executor = createExecutor({
      ...more,
      ...{ tools, policy, tainted, signal },
      // A client has no turns, so nothing is closed until one ends; its own limits apply.
      ...{ budgets: false, guard: false },
      onEvent: (event) => {
        if (event.type === 'tool.delta' && token !== undefined)
          void mcpReq.notify({
            method: 'notifications/progress',
            params: { progressToken: token, progress: ++progress, message: event.message },
          })
      },
    })
    const prepared = await executor.prepare({
      ...{ id: `mcp/1/1/${++count}`, step: 1, ordinal: 0, name: params.name, input: params.arguments ?? {} },
    })
    return continued(prepared, executor, signal, canAsk)
  }

  async function continued(
    at: Prepared | HeldCall,
    executor: Executor,
    signal: AbortSignal,
    canAsk: boolean,
  ): Promise<CallToolResult | InputRequiredResult> {
    if (at.kind === 'result') return finished(at.record, executor)
    if (at.kind === 'ready') return continued(await executor.perform(at.call), executor, signal, canAsk)
    const decision = await approve(at.request, signal)
    if (decision.answer !== 'nobody' || !canAsk) return go({ executor, at }, signal, canAsk, decision)
    const key = randomUUID()
    waiting.set(key, { executor, at })
    for (const old of [...waiting.keys()].slice(0, -MAX_WAITING)) waiting.delete(old)
    return inputRequired({ inputRequests: { [key]: inputRequired.elicit({ message: questionOf(at.request), requestedSchema: ALLOW }) } })
  }

  async function go(
    { executor, at }: Waiting,
    signal: AbortSignal,
    canAsk: boolean,
    decision: ApprovalDecision,
  ): Promise<CallToolResult | InputRequiredResult> {
    if (at.kind === 'held') return finished(await executor.apply(at, decision), executor)
    return continued(await executor.decide(at.call, at.request, decision), executor, signal, canAsk)
  }

  function finished(record: CallRecord, executor: Executor): CallToolResult {
    const { untrusted, secret } = executor.state()
    tainted = { untrusted: tainted.untrusted === true || untrusted, secret: tainted.secret === true || secret }
    return resultOf(record)
  }

  const handle = serveStdio(server, { transport: new StdioServerTransport(stdin, stdout), ...(onError && { onerror: onError }) })
  return {
    closed: gone.promise,
    async close() {
      await handle.close()
      gone.resolve()
    },
  }
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

/** The annotations say no less than the tool's effect. */
const listed = ({ name, description, effect, idempotent, untrusted, inputSchema }: Tool) => ({
  ...{ name, description, inputSchema: { ...inputSchema, type: 'object' as const } },
  annotations: {
    readOnlyHint: effect === 'read',
    destructiveHint: effect !== 'read',
    idempotentHint: effect === 'read' || idempotent,
    openWorldHint: effect === 'external' || untrusted,
  },
})

function resultOf({ result }: CallRecord): CallToolResult {
  const parts = result.ok ? renderParts(result) : [{ type: 'text' as const, text: render(result) }]
  return {
    content: parts.map((part) => (part.type === 'text' ? part : { type: 'image' as const, data: part.data, mimeType: part.mediaType })),
    ...(!result.ok && { isError: true }),
  }
}
