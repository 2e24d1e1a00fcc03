/** What the API takes and returns. Requests are checked against it; the OpenAPI document and the types of the client come from it. */
import { z } from 'zod'

const time = z.int().describe('milliseconds since 1970')

export const sessionSchema = z.object({
  id: z.string(),
  title: z.string(),
  cwd: z.string(),
  createdAt: time,
  updatedAt: time,
  turns: z.int(),
  model: z.string().optional(),
  snippet: z.string().optional().describe('in the results of a search: what surrounds the words; absent if they are in the title only'),
  status: z.enum(['idle', 'running', 'waiting']).describe('waiting: the last turn waits for a person to answer'),
})

export const turnSchema = z.object({
  id: z.string(),
  prompt: z.string(),
  status: z.enum(['running', 'waiting', 'answered', 'failed', 'stopped', 'needs_approval', 'cancelled', 'interrupted']),
  startedAt: time,
  endedAt: time.optional(),
  answer: z.string().optional(),
})

const askedSchema = z.object({ target: z.string(), reason: z.string() })

export const approvalSchema = z.object({
  id: z.string(),
  sessionId: z.string(),
  turnId: z.string(),
  callId: z.string(),
  tool: z.string(),
  effect: z.enum(['read', 'write', 'external']),
  target: z.string(),
  reason: z.string(),
  forced: z.boolean().describe('only a person may answer'),
  agent: z.string().optional().describe('the agent that asks, if it works on a task'),
  input: z.record(z.string(), z.unknown()),
  diff: z.string().optional().describe('what would change, or what the call changed on its layer'),
  summary: z.string().optional().describe('of a call that already ran on its layer: the changes to keep'),
  asks: z.array(askedSchema),
  offers: z.object({
    session: z.object({ text: z.string() }).optional(),
    always: z.object({ file: z.string(), rules: z.array(z.array(z.record(z.string(), z.unknown()))) }).optional(),
  }),
  hash: z.string().describe('of the input, or of the change set: an answer applies to this effect only'),
  createdAt: time,
  status: z.enum(['pending', 'answered', 'expired']),
  answer: z.string().optional(),
})

const fileSchema = z.object({ path: z.string(), change: z.string(), diff: z.string().optional() })
const conflictSchema = z.object({ path: z.string(), why: z.string() })
const event = z.looseObject({ type: z.string(), id: z.int().optional(), sessionId: z.string(), turnId: z.string(), at: time })

const MAX_PROMPT = 500_000
const count = z.coerce.number().int().min(1).max(1000)
const after = z.coerce.number().int().min(0)

/** A message of the AI SDK: only what is read of it. */
const uiMessage = z.looseObject({
  id: z.string().max(100),
  role: z.enum(['system', 'user', 'assistant']),
  parts: z.array(
    z.looseObject({
      type: z.string(),
      text: z.string().max(MAX_PROMPT).optional(),
      state: z.string().optional(),
      approval: z.looseObject({ id: z.string(), approved: z.boolean().optional(), reason: z.string().optional() }).optional(),
    }),
  ),
})

/** One endpoint. `stream`: the response is not JSON. */
export interface Endpoint {
  readonly summary: string
  readonly query?: z.ZodObject
  readonly body?: z.ZodObject
  readonly status: number
  readonly response?: z.ZodType
  readonly stream?: string
}

export const CONTRACT = {
  'POST /api/sessions': {
    summary: 'Creates a session in a folder',
    body: z.object({
      cwd: z.string().min(1).describe('absolute path of the folder'),
      model: z.string().min(1).optional(),
      baseUrl: z.string().min(1).optional(),
      agent: z.string().min(1).optional(),
      mode: z.enum(['read-only', 'ask', 'auto-edit', 'auto']).optional(),
      title: z.string().max(200).optional(),
    }),
    status: 201,
    response: z.object({ id: z.string() }),
  },
  'GET /api/sessions': {
    summary: 'Lists sessions, latest first, or those with the words `q`, best first',
    query: z.object({
      cwd: z.string().optional(),
      q: z.string().max(500).optional(),
      limit: count.optional(),
      cursor: z.string().optional(),
    }),
    status: 200,
    response: z.object({ sessions: z.array(sessionSchema), next: z.string().optional() }),
  },
  'GET /api/sessions/:id': {
    summary: 'Returns a session with its turns',
    status: 200,
    response: sessionSchema.extend({ turns: z.array(turnSchema) }),
  },
  'PATCH /api/sessions/:id': { summary: 'Renames a session', body: z.object({ title: z.string().min(1).max(200) }), status: 204 },
  'DELETE /api/sessions/:id': { summary: 'Deletes a session permanently', status: 204 },
  'GET /api/sessions/:id/messages': {
    summary: 'Returns the conversation',
    status: 200,
    response: z.object({ messages: z.array(z.looseObject({ role: z.string() })) }),
  },
  'GET /api/sessions/:id/events': {
    summary: 'Streams events: those after the cursor, `synced`, then live ones',
    query: z.object({ after: after.optional() }),
    status: 200,
    stream: 'text/event-stream',
  },
  'GET /api/sessions/:id/history.json': {
    summary: 'Returns stored events',
    query: z.object({ after: after.optional(), limit: z.coerce.number().int().min(1).max(10_000).optional() }),
    status: 200,
    response: z.object({ events: z.array(event), last: z.int() }),
  },
  'POST /api/sessions/:id/turns': {
    summary: 'Starts a turn, and declines a pending question',
    body: z.object({ prompt: z.string().min(1).max(MAX_PROMPT) }),
    status: 202,
    response: z.object({ turnId: z.string() }),
  },
  'POST /api/sessions/:id/abort': {
    summary: 'Stops the turn that runs or waits',
    status: 202,
    response: z.object({ aborted: z.boolean() }),
  },
  'POST /api/sessions/:id/retry': {
    summary: 'Takes the last message back and sends it again',
    status: 202,
    response: z.object({ turnId: z.string() }),
  },
  'POST /api/sessions/:id/branch': {
    summary: 'Copies the conversation before a message to a new session',
    body: z.object({ turnId: z.string().optional().describe('this turn and later ones are left out') }),
    status: 201,
    response: z.object({ id: z.string() }),
  },
  'GET /api/sessions/:id/turns/:turnId/changes': {
    summary: 'Returns the files that a turn changed',
    status: 200,
    response: z.object({ files: z.array(fileSchema), undone: z.boolean() }),
  },
  'POST /api/sessions/:id/turns/:turnId/undo': {
    summary: 'Restores the files to their state before a turn',
    status: 200,
    response: z.object({ undone: z.array(z.string()), left: z.array(conflictSchema) }),
  },
  'GET /api/approvals': {
    summary: 'Lists pending questions',
    query: z.object({ session: z.string().optional(), status: z.enum(['pending', 'answered', 'expired']).optional() }),
    status: 200,
    response: z.object({ approvals: z.array(approvalSchema) }),
  },
  'GET /api/approvals/:id': { summary: 'Returns a question', status: 200, response: approvalSchema },
  'POST /api/approvals/:id': {
    summary: 'Answers a question; the first answer wins, and the turn goes on',
    body: z.object({
      answer: z.enum(['once', 'session', 'always', 'no']),
      reason: z.string().max(500).optional(),
      offer: z.int().min(0).optional().describe('which of `offers.always.rules` is written'),
      hash: z.string().optional().describe('the hash that was shown; the answer is refused if it differs'),
    }),
    status: 200,
    response: approvalSchema,
  },
  'POST /api/chat': {
    summary: "Takes what the AI SDK's `useChat` sends, and streams the reply in its UI message protocol. A chat is a session",
    body: z.object({
      id: z.string().describe('of the chat; a new one creates a session'),
      messages: z
        .array(uiMessage)
        .describe('the last one is a user message to send, or the assistant message with answers to its questions'),
      trigger: z.enum(['submit-message', 'regenerate-message']).optional(),
      messageId: z.string().optional().describe('the message to replace or to regenerate'),
      cwd: z.string().min(1).optional().describe('folder of a new chat. Default: the folder in which the server was started'),
      model: z.string().min(1).optional(),
      baseUrl: z.string().min(1).optional(),
      agent: z.string().min(1).optional(),
      mode: z.enum(['read-only', 'ask', 'auto-edit', 'auto']).optional(),
    }),
    status: 200,
    stream: 'text/event-stream',
  },
  'GET /api/chat/:id/stream': {
    summary: 'Streams the reply that is being written, from its beginning; 204 if there is none',
    status: 200,
    stream: 'text/event-stream',
  },
  'GET /api/chat/:id/messages': {
    summary: "Returns the conversation as the AI SDK's UI messages",
    status: 200,
    response: z.object({
      messages: z.array(
        z.object({ id: z.string(), role: z.enum(['user', 'assistant']), metadata: z.unknown(), parts: z.array(z.unknown()) }),
      ),
    }),
  },
  'GET /api/reliability': {
    summary: 'Returns the reliability figures of stored calls',
    query: z.object({
      since: z.coerce.number().int().min(0).optional().describe('milliseconds since 1970; inclusive. Default: 30 days ago'),
      until: z.coerce.number().int().min(0).optional().describe('exclusive'),
      cwd: z.string().optional(),
      session: z.string().optional(),
      tool: z.string().optional(),
      model: z.string().optional(),
    }),
    status: 200,
    response: z.looseObject({ total: z.object({ calls: z.int() }) }),
  },
  'GET /api/tools': {
    summary: 'Lists the tools of a folder',
    query: z.object({ cwd: z.string().min(1) }),
    status: 200,
    response: z.object({
      tools: z.array(z.object({ name: z.string(), description: z.string(), effect: z.string(), inputSchema: z.unknown() })),
    }),
  },
  'GET /api/agents': {
    summary: 'Lists the agents of a folder',
    query: z.object({ cwd: z.string().min(1) }),
    status: 200,
    response: z.object({ agents: z.array(z.object({ name: z.string(), description: z.string() })) }),
  },
  'GET /api/models': {
    summary: 'Lists the models of the servers on this machine',
    status: 200,
    response: z.object({ models: z.array(z.object({ id: z.string(), server: z.string() })) }),
  },
} as const satisfies Readonly<Record<string, Endpoint>>

export type Contract = typeof CONTRACT
export type Route = keyof Contract
/** Endpoints that answer with JSON. */
export type JsonRoute = { [R in Route]: Contract[R] extends { readonly stream: string } ? never : R }[Route]

type Part<R extends Route, Name extends 'query' | 'body'> = Contract[R] extends { readonly [Key in Name]: infer Schema extends z.ZodType }
  ? z.output<Schema>
  : undefined
export type Query<R extends Route> = Part<R, 'query'>
export type Body<R extends Route> = Part<R, 'body'>
export type Response<R extends Route> = Contract[R] extends { readonly response: infer Schema extends z.ZodType }
  ? z.input<Schema>
  : undefined

export type Session = z.infer<typeof sessionSchema>
export type SessionStatus = Session['status']
export type Turn = z.infer<typeof turnSchema>
export type Approval = z.infer<typeof approvalSchema>
