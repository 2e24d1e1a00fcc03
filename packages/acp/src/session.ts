/** One session of an editor: a workspace, the turn that runs in it, and what the editor is told about both. */
import type {
  AgentContext,
  ClientCapabilities,
  ContentBlock,
  McpServer,
  PromptResponse,
  SessionConfigOption,
  SessionModeState,
  SessionUpdate,
} from '@agentclientprotocol/sdk'
import { type Agent, type AgentEvent, newSessionId, sessionTitle, takenBack } from '@mulligan/agent'
import { type AroundOwnCode, type Env, type Notice, openWorkspace } from '@mulligan/host'
import {
  type Choice,
  type ChoiceChanges,
  type ChoiceFlags,
  promptCommandNamed,
  promptCommands,
  promptFor,
  withChanges,
} from '@mulligan/host/parts'
import { badRequest } from './errors.ts'
import { handedOver } from './mcp-servers.ts'
import { configOptions, findModels, modeState, optionChange } from './options.ts'
import { permissions } from './permissions.ts'
import { commandIn, readPrompt } from './prompt.ts'
import { questions } from './questions.ts'
import { endOf } from './updates/ending.ts'
import { createUpdates } from './updates/updates.ts'

export interface SessionsOptions {
  readonly env: Env
  readonly flags: ChoiceFlags
  readonly version: string
  readonly tell: (line: string) => void
  readonly aroundOwnCode?: ((cwd: string) => AroundOwnCode) | undefined
  readonly client: () => AgentContext
  readonly capabilities: () => ClientCapabilities
}

export interface EditorSession {
  readonly id: string
  /** The folder's real path. */
  readonly cwd: string
  readonly isRunning: () => boolean
  /** Modes and options, as part of a response. */
  readonly settings: () => { readonly modes: SessionModeState; readonly configOptions: SessionConfigOption[] }
  /** Tells the editor what it need not wait for: notices, commands, other models. */
  readonly announce: () => Promise<void>
  /** Tells the editor the whole conversation. */
  readonly replay: () => Promise<void>
  readonly prompt: (blocks: readonly ContentBlock[]) => Promise<PromptResponse>
  readonly cancel: () => void
  readonly setMode: (mode: string) => Promise<Record<string, never>>
  readonly setOption: (id: string, value: unknown) => Promise<{ readonly configOptions: SessionConfigOption[] }>
  /** Ends the running turn and its commands. */
  readonly close: () => Promise<void>
}

/** @param stored the session to continue. Default: a new one, which is stored with its first prompt. @throws UsageError */
export async function openSession(
  cwd: string,
  stored: string | undefined,
  servers: readonly McpServer[],
  { env, flags, version, tell, client, capabilities, aroundOwnCode }: SessionsOptions,
): Promise<EditorSession> {
  const id = stored ?? newSessionId()
  let isStored = stored !== undefined
  let isClosed = false
  const notices: Notice[] = []
  const send = async (update: SessionUpdate): Promise<void> => {
    // An editor that has gone is noticed by the connection.
    if (!isClosed)
      await client()
        .notify('session/update', { sessionId: id, update })
        .catch(() => undefined)
  }
  const person = { client, sessionId: id, capabilities }
  let report = (notice: Notice): void => {
    notices.push(notice)
  }
  const { mcpServers, leftOut } = handedOver(servers)
  let onEvent = (_: AgentEvent): void => undefined
  const workspace = await openWorkspace({
    ...{ cwd, env, flags, version, mcpServers },
    ...(stored !== undefined && { session: stored }),
    report: (notice) => report(notice),
    onEvent: (event) => onEvent(event),
    approve: permissions(person, () => toolCalls.describe),
    answer: questions(person),
    ...(aroundOwnCode && { aroundOwnCode: aroundOwnCode(cwd) }),
  })
  const updates = createUpdates({ tools: () => workspace.tools, cwd: workspace.cwd, can: capabilities() })
  const { toolCalls } = updates
  onEvent = (event) => {
    for (const update of updates.of(event)) void send(update)
  }
  for (const text of leftOut) notices.push({ kind: 'left-out', text })

  let choice: Choice = workspace.choice
  let agent: Agent = workspace.agent(choice)
  let running: AbortController | undefined
  let ended: Promise<unknown> = Promise.resolve()
  let models: readonly string[] = []

  const settings = () => ({ modes: modeState(choice), configOptions: configOptions(choice, models) })

  async function announce(): Promise<void> {
    report = (notice) => void show(notice)
    // New MCP servers are asked while the user types.
    void workspace.ready()
    for (const notice of notices.splice(0)) await show(notice)
    const { commands } = await promptCommands(workspace.cwd, env)
    await send({
      sessionUpdate: 'available_commands_update',
      availableCommands: commands.map(({ name, description, usage }) => ({ name, description, input: { hint: usage ?? 'arguments' } })),
    })
    models = await findModels(env)
    if (models.length > 0) await send({ sessionUpdate: 'config_option_update', configOptions: configOptions(choice, models) })
  }

  async function show({ kind, text }: Notice): Promise<void> {
    const severity = kind === 'model' || kind === 'sandbox' || kind === 'approval' ? 'info' : 'warning'
    if (capabilities().session?.notices) return send({ sessionUpdate: 'notice', severity, title: text })
    tell(text)
  }

  async function replay(): Promise<void> {
    const { sessions } = workspace
    const isGone = takenBack(await sessions.rewinds(id))
    const events = (await sessions.events({ sessionId: id })).filter(({ turnId }) => !isGone(turnId))
    for (const update of updates.replayed(events)) await send(update)
  }

  async function prompt(blocks: readonly ContentBlock[]): Promise<PromptResponse> {
    if (running) throw badRequest('a turn of this session is running: wait for it to end, or cancel it')
    const stop = new AbortController()
    running = stop
    const turn = runTurn(blocks, stop.signal)
    ended = turn.catch(() => undefined)
    try {
      return await turn
    } finally {
      running = undefined
    }
  }

  async function runTurn(blocks: readonly ContentBlock[], signal: AbortSignal): Promise<PromptResponse> {
    const given = readPrompt(blocks, workspace.cwd)
    const command = commandIn(given.text)
    const own = command && promptCommandNamed((await promptCommands(workspace.cwd, env)).commands, command.name)
    const text = own && command ? promptFor(own, command.args) : given.text
    const words = [text, ...given.context].join('\n\n')
    if (words.trim() === '') throw badRequest('the prompt is empty: only text, files and their contents can be sent')
    if (!isStored) await workspace.sessions.createSession({ id, cwd: workspace.cwd, title: sessionTitle(text || words) })
    isStored = true
    const { mentions } = given
    const trust = { attached: given.context.length > 0, untrusted: own?.untrusted === true }
    const outcome = await agent.run({ sessionId: id, prompt: words, mentions, ...trust, signal })
    return endOf(outcome, send)
  }

  /** Takes effect with the next turn. */
  async function change(changes: ChoiceChanges): Promise<void> {
    choice = await workspace.choose(withChanges(choice.flags, changes), isStored ? id : undefined, choice)
    agent = workspace.agent(choice)
  }

  async function setMode(mode: string): Promise<Record<string, never>> {
    await change({ mode })
    await send({ sessionUpdate: 'config_option_update', configOptions: configOptions(choice, models) })
    return {}
  }

  async function setOption(name: string, value: unknown): Promise<{ configOptions: SessionConfigOption[] }> {
    await change(optionChange(name, value))
    if (name === 'mode') await send({ sessionUpdate: 'current_mode_update', currentModeId: choice.settings.approval.mode.value })
    return { configOptions: configOptions(choice, models) }
  }

  async function close(): Promise<void> {
    running?.abort()
    await ended
    isClosed = true
    await workspace.close()
  }

  return {
    ...{ id, cwd: workspace.cwd, settings, announce, replay, prompt, setMode, setOption, close },
    isRunning: () => running !== undefined,
    cancel: () => running?.abort(),
  }
}
