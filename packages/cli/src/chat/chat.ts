/** The chat: messages, commands and questions, independent of rendering. */
import type { Agent, AgentEvent, Steer, TurnOutcome } from '@mulligan/agent'
import { MODES, type Mode } from '@mulligan/core/executor'
import { oneLine, sanitize, UsageError } from '@mulligan/host/light'
import { type Choice, type ChoiceFlags, withChanges } from '@mulligan/host/parts'
import { readyFor } from '../commands/mcp/status-text.ts'
import { ignoredLine } from '../ignored.ts'
import { chooseSession } from '../session.ts'
import { type LineStyle, subjectOf } from '../ui/events-to-lines.ts'
import { type ChatInput, parseInput } from './chat-input.ts'
import { type Busy, type Chat, type ChatOptions, type ChatState, createChatStore, type Left, openQuestions } from './chat-types.ts'
import type { ChatControl } from './commands/control.ts'
import { findCommand, isAnytime } from './commands/table.ts'
import { errorLines } from './error-lines.ts'
import { createMessages } from './messages.ts'
import { liveTail, ownRunLines, runInOwnShell } from './own-shell.ts'
import { type CallDetail, createCardPager } from './panel/card-pager.ts'
import { createPanels } from './panel/panels.ts'
import { watchServer } from './server-watch.ts'
import { storedTodos, tailOf } from './tail.ts'
import { openTodos } from './todo.ts'
import { endItems, type Item, NO_VIEW, step } from './view.ts'
import { createWaiting } from './waiting.ts'

/** @throws UsageError */
export async function openChat(options: ChatOptions): Promise<Chat> {
  const { workspace, colors } = options
  const { cwd, data, sessions: store, ignored, servers, mcp, yes } = workspace
  let items: readonly Item[] = [{ kind: 'output', lines: options.welcome }]
  let view = NO_VIEW
  let choice = workspace.choice
  let session = workspace.session
  let sandbox: string | undefined
  let busy: Busy | undefined
  /** Whether input is being processed, from its submission on; `busy` is what is shown of it. */
  let isWorking = false
  let stop = new AbortController()
  let serverSays: string | undefined
  let draft: ChatState['draft']
  let isLeavingNext = false
  let isLeaving = false
  let agent: { readonly of: Choice; readonly agent: Agent } | undefined
  let toldOfIgnored = ''
  const left = Promise.withResolvers<Left>()
  const waiting = createWaiting(() => changed())
  const messages = createMessages(options, tell)
  const panels = createPanels(() => changed())

  const questions = openQuestions(
    (lines, gap) => show({ kind: 'question', lines, gap }),
    () => changed(),
  )
  const { state, subscribe, changed, flush } = createChatStore<ChatState>(() => ({
    ...{
      items,
      view,
      busy,
      isWorking,
      serverSays,
      question: questions.current(),
      waiting: waiting.shown(),
      panel: panels.current(),
      choice,
      yes,
      sandbox,
      isLeavingNext,
      draft,
    },
    isStopping: busy !== undefined && stop.signal.aborted,
  }))
  const style: LineStyle = { colors, subject: (tool, input) => subjectOf(workspace.tools)(tool, input) }
  options.connect({ ask: questions.ask, tell, onEvent, onSandbox: (backend) => (sandbox = backend) })

  function show(...more: readonly Item[]): void {
    items = [...items, ...more]
    changed()
  }

  function tell(text: string): void {
    const lines = sanitize(text).trim().split('\n')
    if (lines[0] !== '') show({ kind: 'notice', lines: lines.map((line) => colors.dim(line)) })
  }

  function complain(error: unknown): undefined {
    show({ kind: 'output', lines: errorLines(error, session, colors) })
  }

  function onEvent(event: AgentEvent): void {
    const stepped = step(view, event, style)
    view = stepped.view
    // The user already knows that the turn was stopped.
    const isKnown = event.type === 'message.discarded' && stop.signal.aborted
    show(...(isKnown ? stepped.done.filter(({ kind }) => kind !== 'notice') : stepped.done))
  }

  /** Processes the input, then everything queued. */
  async function work(typed: string): Promise<void> {
    isWorking = true
    for (let next: string | undefined = typed; next !== undefined && !isLeaving; next = waiting.next()) {
      stop = new AbortController()
      await take(parseInput(next)).catch(complain)
      if (stop.signal.aborted) dropQueued()
    }
    busy = undefined
    isWorking = false
    changed()
    if (isLeaving) end(false)
  }

  /** Publishes the final state, then ends the chat. */
  function end(atOnce: boolean): void {
    flush()
    left.resolve({ session, atOnce })
  }

  async function take(said: ChatInput): Promise<void> {
    if (said.kind === 'message') await turn((signal) => send(said.text, options.mentioned(said.text), signal))
    else if (said.kind === 'command') await command(said.name, said.args)
    else if (said.kind === 'shell') await ownShell(said.command)
  }

  function begin(what: Busy['with'], name: string): void {
    busy = { with: what, what: name, since: Date.now() }
    changed()
  }

  async function turn(run: (signal: AbortSignal) => Promise<TurnOutcome | undefined>): Promise<void> {
    begin('turn', '')
    const unwatch = watchServer(
      choice.configured.status,
      () => view.doing?.what === 'waiting',
      (says) => {
        serverSays = says
        changed()
      },
    )
    waiting.listen(true)
    try {
      const outcome = await run(stop.signal)
      if (!outcome) return
      session = outcome.sessionId
      show(...endItems(outcome, view.said, { colors, limits: choice.settings.limits }))
      if (outcome.status === 'failed') dropQueued()
      await tellIgnored()
    } finally {
      unwatch()
      waiting.listen(false)
      view = { ...view, calls: [], doing: undefined }
    }
  }

  /** Reports changes to ignored files, once for the same paths. */
  async function tellIgnored(): Promise<void> {
    const paths = await ignored.changed().catch(() => [])
    const line = paths.length === 0 ? '' : ignoredLine(paths, `/keep brings ${paths.length === 1 ? 'it' : 'them'} in.`)
    if (line !== '' && line !== toldOfIgnored) tell(line)
    toldOfIgnored = line
  }

  /** @param mentions files that the user named; those in the text of a project's command don't count */
  async function send(text: string, mentions: readonly string[], signal: AbortSignal, untrusted = false): Promise<TurnOutcome> {
    if (!untrusted) await readyFor(text, workspace, signal)
    const message = messages.message(text, mentions, untrusted)
    return agentNow().run({ ...message, signal, steering, ...(session !== undefined && { sessionId: session }) })
  }

  const steering = (): readonly Steer[] => messages.steers(waiting.steer().join('\n\n'))

  /** Returns the agent for the current choice. A new choice creates a new agent, which discards what was allowed for the session. */
  function agentNow(): Agent {
    if (agent?.of !== choice) agent = { of: choice, agent: workspace.agent(choice) }
    return agent.agent
  }

  async function ownShell(line: string): Promise<void> {
    show({ kind: 'user', text: `!${sanitize(line)}` })
    begin('shell', line)
    const ran = await runInOwnShell(line, cwd, stop.signal, (text) => {
      if (busy) busy = { ...busy, printed: liveTail(busy.printed ?? '', text) }
      changed()
    })
    messages.ran(ran)
    show({ kind: 'output', lines: ownRunLines(ran, colors) })
  }

  /** A command given during a turn acts at once, or waits for its end. */
  const commandDuringTurn = async (name: string, args: string, typed: string): Promise<void> =>
    (await messages.ofCommand(name)) ? waiting.add(typed) : command(name, args)

  async function command(name: string, args: string): Promise<void> {
    show({ kind: 'user', text: sanitize(`/${name} ${args}`).trim() })
    await readyForPrompt(name)
    const message = await messages.ofCommand(name)
    if (message)
      return turn(async (signal) => {
        const { text, mentions, untrusted } = await message(args, signal)
        return send(text, mentions, signal, untrusted)
      })
    const found = findCommand(name)
    if (!found.anytime) begin('command', `/${found.name}`)
    await found.run(args, control)
  }

  /** Waits for new MCP servers, whose prompts may be meant. */
  async function readyForPrompt(name: string): Promise<void> {
    if (!name.startsWith('mcp__') || busy?.with === 'turn') return
    begin('command', `/${name}`)
    await workspace.ready(stop.signal)
  }

  const control: ChatControl = {
    get tools() {
      return workspace.tools
    },
    plain: options.plain === true,
    ...{ cwd, data, store, colors, ignored, servers, mcp, ready: workspace.ready, yes, turn, steering, leave, tell, agent: agentNow },
    session: () => session,
    choice: () => choice,
    ask: questions.ask,
    view: () => view,
    sandbox: () => sandbox,
    send: (text) => turn((signal) => send(text, [], signal)),
    open: (make) => panels.open(make, stop.signal),
    draft: (text) => {
      draft = { text }
      changed()
    },
    signal: () => stop.signal,
    say: (...lines) => show({ kind: 'output', lines }),
    sayRows: (rows) => show({ kind: 'rows', rows }),
    output: { out: print, err: print, closed: new AbortController().signal, flush: async () => undefined },
    change: async (changes) => {
      const before = choice.configured
      choice = await chosen(withChanges(choice.flags, changes))
      if (choice.configured !== before) view = { ...view, contextTokens: undefined }
      return choice
    },
    goOnWith,
  }

  function expand(): void {
    const calls = (): readonly CallDetail[] => items.flatMap((item) => (item.kind === 'call' ? [item.detail] : []))
    if (calls().length === 0) tell('There is no call to show yet.')
    else void panels.open<never>((done, redraw) => createCardPager(calls, colors, redraw, done), stop.signal)
  }

  /** Resolves the choice. Ctrl-C cancels it and ignores later results, because a server that does not answer must not block the chat. */
  async function chosen(flags: ChoiceFlags): Promise<Choice> {
    const stopped = Promise.withResolvers<never>()
    const end = (): void => stopped.reject(new UsageError(`stopped; the model is still ${choice.configured.model.id}`, ''))
    const { signal } = stop
    signal.addEventListener('abort', end, { once: true })
    try {
      return await Promise.race([workspace.choose(flags, session, choice), stopped.promise])
    } finally {
      signal.removeEventListener('abort', end)
    }
  }

  /** Shows what a CLI command prints. The text is already sanitized for the terminal. */
  function print(text: string): void {
    show({ kind: 'output', lines: text.replace(/\n$/, '').split('\n') })
  }

  async function goOnWith(id: string | undefined): Promise<void> {
    session = id === undefined ? undefined : await chooseSession(store, cwd, { session: id })
    view = NO_VIEW
    messages.forget()
    // Session approvals do not carry over to another session.
    agent = undefined
    if (session === undefined) return
    choice = await chosen(choice.flags)
    const tail = await tailOf(store, session, style, choice.settings.limits)
    view = { ...tail.view, todos: openTodos(storedTodos(data.state, session)) }
    show(...tail.items)
  }

  function dropQueued(): void {
    const dropped = waiting.drop()
    if (dropped.length > 0)
      tell(
        `Not sent: ${dropped.map((one) => JSON.stringify(oneLine(one, 60))).join(', ')}.${options.plain ? '' : ' Press Up to get it back.'}`,
      )
  }

  function submit(typed: string): void {
    isLeavingNext = false
    const said = parseInput(typed)
    if (said.kind === 'nothing' || isLeaving) return
    if (!isWorking) void work(typed)
    else if (said.kind === 'command' && isAnytime(said.name)) void commandDuringTurn(said.name, said.args, typed).catch(complain)
    else waiting.add(typed)
    changed()
  }

  function interrupt(): void {
    if (busy ? stop.signal.aborted : isLeavingNext) end(busy !== undefined)
    else if (busy) stop.abort(new Error('interrupted'))
    else isLeavingNext = true
    changed()
  }

  function stay(): void {
    if (isLeavingNext) changed()
    isLeavingNext = false
  }

  function takeBackOrStop(): boolean {
    const taken = waiting.takeBack()
    if (taken !== undefined) control.draft(taken)
    else if (busy && !stop.signal.aborted) interrupt()
    else return busy !== undefined
    return true
  }

  /** Changes follow one another, so that none is lost while the choice is being made. */
  let cycling: Promise<unknown> = Promise.resolve()
  function cycleMode(): void {
    cycling = cycling
      .then(() => control.change({ mode: nextMode(choice.settings.approval.mode.value) }))
      .catch(complain)
      .then(changed)
  }

  function leave(): void {
    isLeaving = true
    if (busy) stop.abort(new Error('interrupted'))
    else end(false)
  }

  if (session !== undefined) await goOnWith(session)
  return {
    state,
    subscribe,
    submit,
    stay,
    interrupt,
    escape: takeBackOrStop,
    expand,
    cycleMode,
    leave,
    ...{ tell, complain, subject: style.subject, answer: questions.answer, left: left.promise },
    session: () => session,
    ignored,
    close: workspace.close,
  }
}

const nextMode = (mode: Mode): Mode => MODES[(MODES.indexOf(mode) + 1) % MODES.length] as Mode
