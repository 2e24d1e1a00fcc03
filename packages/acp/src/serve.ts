/** The agent's side of the Agent Client Protocol: which request does what. */
import { type AgentContext, agent, type InitializeRequest, methods, ndJsonStream, RequestError } from '@agentclientprotocol/sdk'
import type { AroundOwnCode, Env } from '@mulligan/host'
import type { ChoiceFlags } from '@mulligan/host/parts'
import { asRequestError } from './errors.ts'
import { createSessions } from './sessions.ts'

export interface ServeEditorOptions {
  /** Bytes from the editor, usually stdin. */
  readonly input: ReadableStream<Uint8Array>
  /** Bytes to the editor, usually stdout. Nothing else may be written to it. */
  readonly output: WritableStream<Uint8Array>
  readonly version: string
  /** All variables that count, as in `openWorkspace`. */
  readonly env: Env
  /** Settings that override files and variables, in every session. */
  readonly flags?: ChoiceFlags | undefined
  /** Called with a line about something that no session can show. */
  readonly tell: (line: string) => void
  readonly aroundOwnCode?: ((cwd: string) => AroundOwnCode) | undefined
}

export interface EditorServer {
  /** Resolves when the editor has gone, all turns have ended and everything is closed. */
  readonly closed: Promise<void>
  readonly close: () => void
}

/** The version of the protocol that is spoken. */
const PROTOCOL = 1
/** The login that editors offer when no model is set up: trying again. */
const RETRY = {
  id: 'model',
  name: 'Set up a model',
  description: 'Start a model server, or run in a terminal: mulligan config set model PROVIDER/NAME. Then try again.',
}

/**
 * Serves sessions to an editor until it closes the connection. Each session is a workspace of its own.
 *
 * @example
 * const { closed } = serveEditor({ input, output, env: process.env, version: '1.0.0', tell: console.error })
 * await closed
 */
export function serveEditor({ input, output, version, env, flags = {}, tell, aroundOwnCode }: ServeEditorOptions): EditorServer {
  let capabilities: InitializeRequest['clientCapabilities']
  let client: AgentContext | undefined
  const sessions = createSessions({
    ...{ env, flags, version, tell, aroundOwnCode },
    client: () => client as AgentContext,
    capabilities: () => capabilities ?? {},
  })
  const app = agent({ name: 'mulligan' })
    .onRequest(methods.agent.initialize, ({ params }) => {
      capabilities = params.clientCapabilities
      return {
        protocolVersion: PROTOCOL,
        agentInfo: { name: 'mulligan', title: 'Mulligan', version },
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: { embeddedContext: true, image: false, audio: false },
          mcpCapabilities: { http: true, sse: false },
          sessionCapabilities: { list: {}, delete: {}, resume: {}, close: {} },
        },
        authMethods: [RETRY],
      }
    })
    // There is nothing to log in to: the next session looks for a model again.
    .onRequest(methods.agent.authenticate, () => ({}))
    .onRequest(methods.agent.session.new, ({ params }) => told(() => sessions.create(params)))
    .onRequest(methods.agent.session.load, ({ params }) => told(() => sessions.load(params, 'replay')))
    .onRequest(methods.agent.session.resume, ({ params }) => told(() => sessions.load(params, 'silent')))
    .onRequest(methods.agent.session.list, ({ params }) => told(() => sessions.list(params)))
    .onRequest(methods.agent.session.delete, ({ params }) => told(() => sessions.remove(params.sessionId)))
    .onRequest(methods.agent.session.close, ({ params }) => told(() => sessions.end(params.sessionId)))
    .onRequest(methods.agent.session.setMode, ({ params }) => told(() => sessions.of(params.sessionId).setMode(params.modeId)))
    .onRequest(methods.agent.session.setConfigOption, ({ params }) =>
      told(() => sessions.of(params.sessionId).setOption(params.configId, params.value)),
    )
    .onRequest(methods.agent.session.prompt, ({ params }) => told(() => sessions.of(params.sessionId).prompt(params.prompt)))
    .onNotification(methods.agent.session.cancel, ({ params }) => sessions.find(params.sessionId)?.cancel())
  const connection = app.connect(ndJsonStream(output, input))
  client = connection.client
  const closed = connection.closed.catch(() => undefined).then(() => sessions.close())
  return { closed, close: () => connection.close() }

  async function told<T>(work: () => T | Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof RequestError)) tell(error instanceof Error ? error.message : String(error))
      throw asRequestError(error)
    }
  }
}
