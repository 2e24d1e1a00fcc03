/** Opens a workspace for a front end: everything that turns in a folder need, with nothing shared between two workspaces. */
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { type Agent, type AgentEvent, createAgent, type RunOptions, type Store, type TurnOutcome } from '@mulligan/agent'
import type { Tool } from '@mulligan/core'
import type { McpServer } from '@mulligan/mcp'
import { type Ask as AskUser, createChangeLog, createSpill } from '@mulligan/tools'
import { roleOf, unknownTools } from './agents/agents.ts'
import { projectInstructions } from './agents/instructions.ts'
import { projectSkills } from './agents/skills.ts'
import { taskAgents } from './agents/tasks.ts'
import type { AskApproval } from './approval/approve.ts'
import { openApproval } from './approval/open.ts'
import { sessionRules } from './approval/stored.ts'
import { type Choice, type ChoiceFlags, choose } from './choice/choice.ts'
import { type Wanted, withheldText } from './choice/trust-question.ts'
import type { Ask } from './common/ask.ts'
import type { Env } from './common/env.ts'
import { UsageError } from './common/errors.ts'
import { memoize } from './common/memoize.ts'
import { orAborted } from './common/or-aborted.ts'
import { type DataPaths, openDataDir } from './common/paths.ts'
import { oneLine } from './common/sanitize.ts'
import { type ConfiguredServer, limitsOf, type Settings } from './config/settings.ts'
import { recordedFiles, recoverChanges, undoNews } from './data/changes.ts'
import { fileLog } from './data/log.ts'
import { openStoreAt } from './data/store.ts'
import type { Notice } from './notice.ts'
import { openTelemetry } from './telemetry/open-telemetry.ts'
import { type AroundOwnCode, leftOutTexts, openTools, type WorkspaceTools } from './tools/open-tools.ts'
import { sandboxLine } from './tools/sandbox.ts'
import { sessionState } from './tools/session-state.ts'

/** Callbacks to the front end. Without a callback, what would be asked is refused, and what would be reported is dropped. */
export interface Ports {
  readonly report?: ((notice: Notice) => void) | undefined
  /** Every event of every turn, in order. */
  readonly onEvent?: ((event: AgentEvent) => void) | undefined
  /** Decides on a call that the policy asks about. */
  readonly approve?: AskApproval | undefined
  /** Without `approve`: whether a question parks the turn, with status `waiting`, until its answer is in the store. Default: false. */
  readonly park?: boolean | undefined
  /** Answers the model's own questions, the tool `ask_user`. */
  readonly answer?: AskUser | undefined
  /** Decides whether the folder's own tools and settings count. A yes is stored. */
  readonly trust?: ((wanted: Wanted) => Promise<boolean>) | undefined
  /** Asks in words which model to use if several are found. Default: the first one is used. */
  readonly ask?: Ask | undefined
  /** Wraps the loading and the calls of the folder's own tools, which run in this process. */
  readonly aroundOwnCode?: AroundOwnCode | undefined
}

export interface WorkspaceOptions extends Ports {
  /**
   * The folder, as an absolute path. Relative paths in tools and settings are resolved against it, not against the process's working
   * directory.
   */
  readonly cwd: string
  /** All variables that count: `MULLIGAN_…`, API keys, and `HOME`, where the user's own files are. Those of the process do not. */
  readonly env: Env
  /** Settings that override files and variables. */
  readonly flags?: ChoiceFlags | undefined
  /** Allows what the policy asks about, except where only the user may. Default: false. */
  readonly yes?: boolean | undefined
  /** Whether the model is given the project's `AGENTS.md`. Default: true. */
  readonly agentsMd?: boolean | undefined
  /** The store, which stays open when the workspace is closed. Default: the user's. */
  readonly store?: Store | undefined
  /** The session to continue. Default: a new one. @throws UsageError */
  readonly session?: string | ((store: Store) => Promise<string | undefined>) | undefined
  /** MCP servers of this workspace alone, by name. A configured one of the same name counts instead. */
  readonly mcpServers?: Readonly<Record<string, McpServer>> | undefined
  /** Version of the program, for traces. Default: `0`. */
  readonly version?: string | undefined
}

export interface Workspace extends AsyncDisposable {
  /** The folder's real path. */
  readonly cwd: string
  /** Where its sessions, changes and outputs are kept. */
  readonly data: DataPaths
  /** The sessions on this machine. */
  readonly sessions: Store
  /** The session that was continued. */
  readonly session: string | undefined
  /** Whether what the policy asks about is allowed, except where only the user may. */
  readonly yes: boolean
  /** Settings, agent and model at the time of opening. */
  readonly choice: Choice
  /** The tools as they are now: those of MCP servers may change between two turns, and those of new ones come with {@link ready}. */
  readonly tools: readonly Tool[]
  /**
   * Asks MCP servers that are not known yet for their tools. Resolves when each has listed them, has failed or has had its 10 seconds,
   * which begin with the first call; never rejects. Before its first request, a turn waits for it.
   * @param signal ends the wait
   */
  readonly ready: (signal?: AbortSignal) => Promise<void>
  /** Changes that commands made to files that git ignores: they are not in the workspace until they are kept. */
  readonly ignored: WorkspaceTools['ignored']
  /** The configured MCP servers, as they are now. */
  readonly servers: WorkspaceTools['servers']
  /** Their prompts and resources. */
  readonly mcp: WorkspaceTools['mcp']
  /**
   * Chooses model, agent and mode again.
   * @param session the session to continue, with its agent
   * @param before the previous choice, whose model is kept unless another one is named
   * @throws UsageError
   */
  readonly choose: (flags: ChoiceFlags, session: string | undefined, before?: Choice) => Promise<Choice>
  /** Creates an agent with its own approver: what is allowed for the session is allowed for this agent only. Default: {@link choice}. */
  readonly agent: (choice?: Choice) => Agent
  /** Runs one turn in the session of the previous one. @throws SessionBusy, UnknownSession */
  readonly run: (turn: string | RunOptions) => Promise<TurnOutcome>
  /** Ends running commands, sends the remaining traces, and closes the sandbox and the store. */
  readonly close: () => Promise<void>
}

/**
 * Opens a folder. One process may have any number of them open, for different users: nothing is read from the process's working directory
 * and variables, nothing is written to its streams, and no state is kept in modules. A workspace runs the turns of one session at a time;
 * use another workspace for another session of the same folder.
 *
 * @example
 * await using workspace = await openWorkspace({ cwd: '/srv/app', env: process.env, report: ({ text }) => console.error(text) })
 * const { answer } = await workspace.run('Why does npm test fail?')
 * @throws UsageError that says what is wrong with the folder, the settings or the model, and what to do
 */
export async function openWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const env = { ...options.env }
  const cwd = realFolder(options.cwd)
  const data = openDataDir(env)
  const shared = options.store
  const store = shared ?? (await openStoreAt(data, env, (text) => options.report?.({ kind: 'store', text: oneLine(text, 800) })))
  try {
    const session = typeof options.session === 'function' ? await options.session(store) : options.session
    return await openIn({ cwd, env, data, store, session, options })
  } catch (error) {
    if (!shared) await store.close()
    throw error
  }
}

/** Milliseconds after which a turn says what it waits for. */
const SLOW = 1000

interface Opening {
  readonly cwd: string
  readonly env: Env
  readonly data: DataPaths
  readonly store: Store
  readonly session: string | undefined
  readonly options: WorkspaceOptions
}

async function openIn({ cwd, env, data, store, session: goesOn, options }: Opening): Promise<Workspace> {
  const { flags = {}, yes = false, agentsMd = true, report = () => undefined, ask, trust, version = '0' } = options
  const say = (kind: Exclude<Notice['kind'], 'withheld' | 'sandbox'>) => (text: string) => report({ kind, text: oneLine(text, 1000) })
  const choice = await choose(cwd, flags, {
    ...{ env, store, session: goesOn, ask },
    trust: { trust, onWithheld: (wanted) => report({ kind: 'withheld', text: withheldText(wanted), wanted }) },
  })
  const { settings, configured } = choice
  if (configured.notice) say('model')(`The model is ${oneLine(configured.notice, 300)}.`)
  let session = goesOn
  const outputDir = (): string => join(data.output, session ?? 'new')
  const log = fileLog(data.log)
  const telemetry = openTelemetry(env, { version, tell: (line) => say('telemetry')(oneLine(line, 300)) })
  await recoverChanges(cwd, data, say('recovered'))
  const openedTools = await openTools(cwd, {
    ...{ env, changes: { dir: data.changes }, around: options.aroundOwnCode },
    settings: withServers(settings, options.mcpServers),
    outputs: {
      get dir() {
        return outputDir()
      },
    },
    onSandbox: (sandbox) => report({ kind: 'sandbox', text: sandboxLine(sandbox), sandbox }),
    session: { state: sessionState(data.state, () => session ?? 'new'), ...(options.answer && { ask: options.answer }) },
  })
  const { skills, problems } = await projectSkills(cwd)
  const told = [...problems]
  projectInstructions(cwd, (problem) => told.push(problem))
  const toldLeftOut = new Set<string>()
  function tellLeftOut(problems: readonly string[] = leftOutTexts(openedTools)): void {
    for (const problem of problems.filter((one) => !toldLeftOut.has(one))) say('left-out')(`Left out: ${problem}`)
    for (const problem of problems) toldLeftOut.add(problem)
  }
  tellLeftOut([...leftOutTexts(openedTools), ...told.map(({ file, error }) => oneLine(`${file}: ${error}`, 400))])

  let readied: Promise<void> | undefined
  async function ready(signal?: AbortSignal): Promise<void> {
    readied ??= openedTools.ready().then(() => tellLeftOut())
    await (signal ? orAborted(readied, signal) : readied)
  }

  /** The same, for a turn, which says what it waits for. */
  async function readyForTurn(signal: AbortSignal): Promise<void> {
    const slow = setTimeout(() => {
      const names = openedTools.servers().flatMap(({ name, state }) => (state === 'starting' ? [name] : []))
      say('waiting')(`Waiting for the MCP server${names.length === 1 ? '' : 's'} ${names.join(', ')}, asked for the first time.`)
    }, SLOW)
    await ready(signal).finally(() => clearTimeout(slow))
  }

  // What a person has allowed for the session in answers from the store.
  const remembered = session === undefined ? [] : await sessionRules(store, session)

  function agent({ settings, named, agents, configured }: Choice = choice): Agent {
    const warn = memoize(() => {
      for (const warning of unknownTools([named], settings, openedTools.tools)) say('unknown-name')(warning)
    })
    const approval = openApproval({
      settings,
      cwd,
      env,
      tools: openedTools.tools,
      yes,
      ask: options.approve,
      park: options.park === true,
      remembered,
      tell: say('approval'),
    })
    return createAgent({
      model: configured.model,
      async tools(signal) {
        await readyForTurn(signal)
        if (!signal.aborted) warn()
        return openedTools.tools
      },
      store,
      cwd,
      role: roleOf(named, settings.off),
      ...(settings.lean && { lean: settings.lean.value }),
      ...(agentsMd && { instructions: () => projectInstructions(cwd) }),
      skills: () => skills,
      tasks: taskAgents(agents, settings.off, () => openedTools.tools),
      news: (id, history) => undoNews(createChangeLog({ dir: data.changes, root: cwd }), id, history),
      files: recordedFiles(createChangeLog({ dir: data.changes, root: cwd })),
      limits: limitsOf(settings),
      spill: (text, callId) => createSpill(outputDir())(text, callId),
      policy: approval.policy,
      approve: approval.approve,
      onEvent: (event) => {
        // A new session gets its ID here, before any of its calls.
        if (event.type === 'turn.started') session = event.sessionId
        telemetry?.event(event)
        options.onEvent?.(event)
      },
      log,
      // Tools come with folders and packages that are not the user's own.
      errors: 'class',
      secrets: configured.secrets,
    })
  }

  let own: Agent | undefined
  const close = async (): Promise<void> => {
    await openedTools.close()
    await telemetry?.close()
    if (!options.store) await store.close()
  }
  return {
    ...{ cwd, data, sessions: store, session: goesOn, yes, choice, ready, agent, close },
    ...{ ignored: openedTools.ignored, servers: openedTools.servers, mcp: openedTools.mcp },
    get tools() {
      return openedTools.tools
    },
    choose: (next, id, before) => choose(cwd, next, { env, store, session: id, before }),
    run: async (turn) => {
      own ??= agent()
      const asked = typeof turn === 'string' ? { prompt: turn } : turn
      return own.run({ ...(session !== undefined && { sessionId: session }), ...asked })
    },
    [Symbol.asyncDispose]: close,
  }
}

function withServers(settings: Settings, given: Readonly<Record<string, McpServer>> = {}): Settings {
  const configured = new Set(settings.mcpServers.map(({ value: { name } }) => name))
  const more = Object.entries(given).filter(([name]) => !configured.has(name))
  if (more.length === 0) return settings
  const servers = more.map(([name, server]) => ({
    value: { name, server: server as ConfiguredServer },
    origin: 'flag' as const,
    from: 'the front end',
  }))
  return { ...settings, mcpServers: [...settings.mcpServers, ...servers] }
}

/** Returns the folder's real path. @throws UsageError */
function realFolder(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    throw new UsageError(
      `the folder ${oneLine(path, 400)} can't be used: ${(error as NodeJS.ErrnoException).code}`,
      'Name one that exists.',
    )
  }
}
