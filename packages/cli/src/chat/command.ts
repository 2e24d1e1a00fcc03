/**
 * `mulligan chat`: parses the flags, runs the chat on the screen, and returns the exit code. Reports that arrive before the chat is ready
 * are queued.
 */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { AgentEvent, PromptImage, Store } from '@mulligan/agent'
import { type Ask, oneLine, UsageError } from '@mulligan/host/light'
import { type Choice, type Notice, openWorkspace, readImages, readSettings, type Settings } from '@mulligan/host/parts'
import { attachedImages, checkTakesImages } from '../attached.ts'
import type { RunFlags } from '../commands/run.ts'
import { ignoredLine } from '../ignored.ts'
import { fromHome, version, workingFolder } from '../paths.ts'
import { askedInWords, catchUnhandled, tellNotice } from '../ports.ts'
import { EXIT, endProcess, ownCodeIn, saveMemory } from '../process.ts'
import { serverNamed } from '../remote/named.ts'
import { chooseSession } from '../session.ts'
import { trustInWords } from '../trust.ts'
import { askInTerminal } from '../ui/ask.ts'
import { type Colors, colorsFor, setTheme } from '../ui/colors.ts'
import type { Output } from '../ui/output.ts'
import { modeText } from '../ui/text.ts'
import type { ChatEnds, Left } from './chat-types.ts'

export interface ChatFlags extends Omit<RunFlags, 'takeOver' | 'json' | 'jsonStream'> {
  /** The session to continue; true asks for one. */
  readonly resume?: string | boolean
  /** Prints plain lines. */
  readonly plain?: boolean
}

/** @returns the exit code. @throws UsageError */
export async function chatCommand({ resume, ...given }: ChatFlags, output: Output): Promise<number> {
  const flags: ChatFlags = { ...given, ...(typeof resume === 'string' ? { session: resume } : { resume: resume === true }) }
  needTerminal()
  const server = serverNamed(flags.server, process.env)
  if (server !== undefined) return (await import('../remote/chat.ts')).chatOnServer(server, flags, output)
  const cwd = workingFolder(flags.cwd)
  const attached = attachedImages(flags.image)
  const colors = colorsFor(process.stdout)
  const person = process.stderr.isTTY === true ? askInTerminal(() => endProcess(EXIT.cancelled)) : undefined
  const { ports, connect } = chatPorts(colors, output.err)
  const unwatch = catchUnhandled({ err: ports.tell })
  try {
    const workspace = await openWorkspace({
      ...{ cwd, env: process.env, flags, yes: flags.yes === true, agentsMd: flags.agentsMd !== false, version: version() },
      session: (store) => (flags.resume ? pickAtStart(store, cwd, { flags, person, output }) : chooseSession(store, cwd, flags)),
      ...(person && { ask: person, trust: trustInWords(person) }),
      ...ports.ofWorkspace,
      aroundOwnCode: ownCodeIn(cwd),
    })
    const { choice, sessions, data } = workspace
    const { settings } = choice
    checkTakesImages(choice.configured.model, attached)
    const isPlain = isPlainFor(flags, settings)
    setTheme(isPlain ? 'none' : settings.theme.value, process.env)
    const { openChat, showChat, showPlain, openHistory, mentionsIn, mentionOf, droppedImages, createClipboard, completerFor } =
      await loadParts()
    const chat = await openChat({
      ...{
        workspace,
        connect,
        colors,
        plain: isPlain,
        attached,
        welcome: [...welcome(cwd, choice, workspace.yes, colors), ...attachedLine(attached, colors)],
      },
      mentioned: (text) => mentionsIn(text).filter((path) => existsSync(resolve(cwd, path))),
      images: (paths, count) => readImages(cwd, paths, count),
    })
    const clipboard = createClipboard(process.env, cwd)
    try {
      const history = openHistory(data.dir, cwd)
      const pasted = (text: string): string => droppedImages(text, workspace.cwd, (path) => existsSync(path)) ?? text
      const pasteImage = async (signal: AbortSignal): Promise<string> => `${mentionOf(await clipboard.image(signal))} `
      const complete = () => completerFor(chat, sessions, cwd, workspace)
      const shown = isPlain
        ? showPlain(chat, output)
        : showChat({ chat, colors, history, complete: await complete(), pasted, pasteImage }, output)
      // New MCP servers are asked while the user types, once the prompt is on the screen.
      setImmediate(() => void workspace.ready())
      const left = await shown
      const ignored = await chat.ignored.changed().catch(() => [])
      if (ignored.length > 0) output.out(`\n${ignoredLine(ignored)}`)
      output.out(goodbye(left))
      return left.atOnce || left.isEnded ? EXIT.cancelled : EXIT.ok
    } finally {
      clipboard.close()
      await chat.close()
    }
  } finally {
    unwatch()
  }
}

const isPlainFor = (flags: ChatFlags, { plain }: Pick<Settings, 'plain'>): boolean =>
  flags.plain === true || plain.value === 'on' || (plain.value === 'auto' && process.env['TERM'] === 'dumb')

interface AtStart {
  readonly flags: ChatFlags
  /** Asks at the terminal, if somebody is there. */
  readonly person: Ask | undefined
  readonly output: Output
}

/**
 * Lets the user choose a session before the model is chosen, because the session may remember its model.
 * @returns undefined if none was chosen. @throws UsageError
 */
async function pickAtStart(store: Store, cwd: string, { flags, person, output }: AtStart): Promise<string | undefined> {
  const settings = readSettings(cwd, flags, process.env)
  const { pickFromLines, sessionList } = await import('./commands/pick-session.ts')
  if (isPlainFor(flags, settings)) return pickFromLines(store, cwd, person)
  setTheme(settings.theme.value, process.env)
  const { showPanel } = await loadParts()
  return showPanel(sessionList({ store, cwd, colors: colorsFor(process.stdout) }, undefined), output)
}

/**
 * Loads the chat modules with `NODE_ENV` defaulting to production: React reads it while loading, and its development checks are slow.
 * Processes started from the chat do not inherit it.
 */
async function loadParts(): Promise<typeof import('./parts.ts')> {
  const before = process.env['NODE_ENV']
  process.env['NODE_ENV'] = before ?? 'production'
  try {
    return await import('./parts.ts')
  } finally {
    if (before === undefined) delete process.env['NODE_ENV']
  }
}

/** @throws UsageError */
function needTerminal(): void {
  const { stdin, stdout } = process
  if (stdin.isTTY !== true || stdout.isTTY !== true)
    throw new UsageError('the chat needs a terminal', 'To run one turn: mulligan "what to do", or some-command | mulligan')
}

function welcome(cwd: string, { configured, named, settings }: Choice, yes: boolean, { bold, dim }: Colors): string[] {
  const { id, where } = configured.model
  const agent = named.name === 'build' ? '' : ` · agent ${oneLine(named.name, 40)}`
  return [
    `${bold('Mulligan')} ${version()}`,
    `${oneLine(id, 120)} on ${oneLine(where, 80)}${agent}`,
    dim(`${oneLine(fromHome(cwd), 200)} · mode ${modeText(settings, yes)} · ${sandboxText(settings.sandbox.backend?.value)}`),
    ...(configured.notice ? [dim(`The model is ${oneLine(configured.notice, 300)}.`)] : []),
    dim('/help lists the commands'),
  ]
}

const attachedLine = (images: readonly PromptImage[], { dim }: Colors): readonly string[] =>
  images.length === 0 ? [] : [dim(`With your next message: ${oneLine(images.map(({ name }) => name).join(', '), 300)}`)]

const sandboxText = (backend: string | undefined): string =>
  backend === 'none' ? 'commands run without a sandbox' : 'the first command opens the sandbox'

function goodbye({ session, atOnce }: Left): string {
  const parts = [atOnce ? 'You left during a turn.' : '', session === undefined ? '' : `To continue: mulligan chat --session ${session}`]
  const text = parts.filter((part) => part !== '').join(' ')
  return text === '' ? '' : `\n${text}\n`
}

/** @param tellFirst shows messages that arrive before the chat is on the screen */
export function chatPorts(colors: Colors, tellFirst: (line: string) => void) {
  let chat: ChatEnds | undefined
  const waiting: string[] = []
  const tell = (text: string): void => {
    if (chat) chat.tell(text)
    else waiting.push(text)
  }

  function report(notice: Notice): void {
    // The chat's first lines already name the model.
    if (notice.kind === 'model') return
    if (notice.kind === 'sandbox') chat?.onSandbox(notice.sandbox.backend)
    tellNotice(notice, notice.kind === 'withheld' && !chat ? tellFirst : tell)
  }

  return {
    ports: {
      tell,
      ofWorkspace: {
        report,
        onEvent: (event: AgentEvent) => {
          if (event.type === 'finish-step') saveMemory()
          chat?.onEvent(event)
        },
        ...askedInWords(async (question, signal) => chat?.ask(question, signal), { colors, columns: () => process.stdout.columns }),
      },
    },
    /** Sends further reports and questions to the chat. */
    connect: (to: ChatEnds) => {
      chat = to
      for (const text of waiting.splice(0)) to.tell(text)
    },
  }
}
