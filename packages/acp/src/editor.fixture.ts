/** An editor: the SDK's own client, connected to the server by streams of bytes, that keeps what it was told. */
import {
  type ClientCapabilities,
  type ClientConnection,
  type ContentBlock,
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  client,
  type InitializeResponse,
  type McpServer,
  methods,
  ndJsonStream,
  type PromptResponse,
  type RequestPermissionRequest,
  type SessionUpdate,
} from '@agentclientprotocol/sdk'
import { NO_SERVERS, type TestFolders } from '../../host/src/common/place.fixture.ts'
import { serveEditor } from './serve.ts'

export type Of<K extends SessionUpdate['sessionUpdate']> = Extract<SessionUpdate, { sessionUpdate: K }>

/** Chooses an option by the beginning of its id; `cancelled` closes the question; a promise lets it wait. */
export type AnswerPermission = (request: RequestPermissionRequest) => string | Promise<string>

export interface EditorOptions {
  readonly model?: { readonly url: string }
  readonly env?: Readonly<Record<string, string>>
  readonly flags?: Readonly<Record<string, string>>
  readonly capabilities?: ClientCapabilities
  readonly permission?: AnswerPermission
  readonly elicitation?: (request: CreateElicitationRequest) => CreateElicitationResponse
}

export interface Editor extends AsyncDisposable {
  readonly hello: InitializeResponse
  readonly agent: ClientConnection['agent']
  /** Lines that no session showed. */
  readonly told: readonly string[]
  readonly asked: readonly RequestPermissionRequest[]
  readonly updates: (session: string) => readonly SessionUpdate[]
  /** The updates of one kind. */
  readonly only: <K extends SessionUpdate['sessionUpdate']>(session: string, kind: K) => readonly Of<K>[]
  /** What the model said, in pieces put together. */
  readonly said: (session: string, kind?: 'agent_message_chunk' | 'agent_thought_chunk' | 'user_message_chunk') => string
  readonly open: (cwd: string, mcpServers?: McpServer[]) => Promise<string>
  readonly send: (session: string, prompt: string | ContentBlock[]) => Promise<PromptResponse>
  /** Resolves when an update or a question has come that fits. */
  readonly until: (fits: () => boolean) => Promise<void>
  /** Closes the editor's side and waits until the server has ended. */
  readonly leave: () => Promise<void>
}

/** Connects the client to two streams of bytes. */
export async function connect(
  output: WritableStream<Uint8Array>,
  input: ReadableStream<Uint8Array>,
  { capabilities = {}, permission = () => 'cancelled', elicitation }: EditorOptions,
) {
  const updates = new Map<string, SessionUpdate[]>()
  const asked: RequestPermissionRequest[] = []
  const waiting = new Set<() => void>()
  const changed = (): void => {
    for (const check of waiting) check()
  }
  const app = client({ name: 'test' })
    .onNotification(methods.client.session.update, ({ params: { sessionId, update } }) => {
      updates.set(sessionId, [...(updates.get(sessionId) ?? []), update])
      changed()
    })
    .onRequest(methods.client.session.requestPermission, async ({ params }) => {
      asked.push(params)
      changed()
      const answer = await permission(params)
      const chosen = params.options.find(({ optionId }) => optionId.startsWith(answer))
      return { outcome: answer === 'cancelled' ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: chosen?.optionId ?? answer } }
    })
  if (elicitation) app.onRequest(methods.client.elicitation.create, ({ params }) => elicitation(params))
  const connection = app.connect(ndJsonStream(output, input))
  const { agent } = connection
  const hello = await agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: capabilities })
  const only = <K extends SessionUpdate['sessionUpdate']>(session: string, kind: K): readonly Of<K>[] =>
    (updates.get(session) ?? []).filter((one): one is Of<K> => one.sessionUpdate === kind)
  return {
    ...{ hello, agent, asked, only, connection },
    updates: (session: string) => updates.get(session) ?? [],
    said: (session: string, kind: 'agent_message_chunk' | 'agent_thought_chunk' | 'user_message_chunk' = 'agent_message_chunk') =>
      only(session, kind)
        .map(({ content }) => (content.type === 'text' ? content.text : ''))
        .join(''),
    open: async (cwd: string, mcpServers: McpServer[] = []) => (await agent.request('session/new', { cwd, mcpServers })).sessionId,
    send: (sessionId: string, prompt: string | ContentBlock[]) =>
      agent.request('session/prompt', { sessionId, prompt: typeof prompt === 'string' ? [{ type: 'text', text: prompt }] : prompt }),
    until: (fits: () => boolean) =>
      new Promise<void>((resolve) => {
        const check = (): void => {
          if (!fits()) return
          waiting.delete(check)
          resolve()
        }
        waiting.add(check)
        check()
      }),
  }
}

/** Starts a server in this process, and an editor. */
export async function editor(here: TestFolders, options: EditorOptions = {}): Promise<Editor> {
  const there = new TransformStream<Uint8Array, Uint8Array>()
  const back = new TransformStream<Uint8Array, Uint8Array>()
  const told: string[] = []
  const { model, env = {}, flags = {} } = options
  const server = serveEditor({
    input: there.readable,
    output: back.writable,
    version: '1.2.3',
    env: {
      ...NO_SERVERS,
      ...{ HOME: here.root, MULLIGAN_DATA_DIR: here.data, PATH: process.env['PATH'], MULLIGAN_SANDBOX: 'none' },
      ...env,
    },
    flags: { ...(model && { model: 'scripted', baseUrl: model.url }), ...flags },
    tell: (line) => told.push(line),
  })
  const { connection, ...connected } = await connect(there.writable, back.readable, options)
  const leave = async (): Promise<void> => {
    connection.close()
    server.close()
    await server.closed
  }
  return { ...connected, told, leave, [Symbol.asyncDispose]: leave }
}
