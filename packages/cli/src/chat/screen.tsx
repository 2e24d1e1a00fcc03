/** Runs a chat on the terminal until the user leaves. However it ends, the terminal is restored. */
import { Box, render, Static, Text, useApp, useStdout, useWindowSize } from 'ink'
import { createElement, type ReactNode, useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { askedTheme, setBackground } from '../ui/colors.ts'
import type { Output } from '../ui/output.ts'
import { modeText } from '../ui/text.ts'
import { asksBackground, createBackground } from './background.ts'
import type { Chat, ChatState } from './chat-types.ts'
import { attend, type Ended, overridden, writer } from './ending.ts'
import type { Completer } from './input/completion.ts'
import type { PromptHistory } from './input/history.ts'
import { Prompt } from './input/prompt.tsx'
import { ItemView, Live, type Look, Queued } from './items.tsx'
import { createNotifier } from './notify.ts'
import { editInOwnEditor } from './own-editor.ts'
import { createFullScreen, type FullScreen } from './panel/full-screen.ts'
import type { Size } from './panel/panel.ts'
import { PanelView } from './panel/panel-view.tsx'
import { QuestionView } from './question.tsx'
import { createReflow } from './reflow.ts'
import { createResizing, realSize, settledAfter } from './resizing.ts'
import { statusText } from './status.ts'
import { hasGap, type Item } from './view.ts'

/** @returns how the chat ended */
export async function showChat({ pasteImage, ...shown }: AppProps, output: Output): Promise<Ended> {
  const { chat } = shown
  let editing: Promise<unknown> | undefined
  // Ctrl-C in an editor is for the editor, although it reaches every process of the terminal.
  const interrupt = (): void => {
    if (!editing) chat.interrupt()
  }
  const attended = attend(chat, output, interrupt)
  const { stdout, full, release, end } = screenOf(output)
  const notifier = createNotifier({ how: chat.state().choice.settings.notify.value, write: output.out, env: process.env })
  const unnotify = chat.subscribe(() => notifier.look(chat.state()))
  const background = createBackground({
    write: output.out,
    onKnown: (known) => setBackground(known, process.env),
    onReady: () => process.stdin.emit('readable'),
  })
  const closing = new AbortController()
  /** Gives the terminal to another program. */
  const away = async (suspend: Suspend, run: () => Promise<void>): Promise<void> => {
    const work = suspend(async () => {
      // The renderer no longer listens, but the stream would go on reading keys that are meant for the other program.
      await new Promise(setImmediate)
      process.stdin.pause()
      release()
      notifier.stop()
      await output.flush()
      await run()
      notifier.start()
    })
    editing = work.catch(chat.complain)
    await editing
    editing = undefined
  }
  const edit: ScreenProps['edit'] = async (text, suspend) => {
    let edited: string | undefined
    await away(suspend, async () => {
      edited = await editInOwnEditor(text, process.env, closing.signal).catch(chat.complain)
    })
    return edited
  }
  const stop: ScreenProps['stop'] = (suspend) => away(suspend, stopJob)
  const image = (): Promise<string | undefined> =>
    pasteImage(closing.signal)
      .catch(chat.complain)
      .then((text) => text ?? undefined)
  const app = render(createElement(App, { ...shown, full, edit, stop, image }), {
    stdout,
    stdin: watched(notifier.input, background.input),
    exitOnCtrlC: false,
    patchConsole: false,
    // Text that streams is drawn less often anyway. With the default of 30, a key could wait 33 ms for its character.
    maxFps: 120,
    interactive: true,
    // Distinguishes Shift-Enter from Enter if the terminal supports it.
    kittyKeyboard: { mode: 'auto' },
  })
  notifier.start()
  if (asksBackground(askedTheme(), process.env)) background.ask()
  try {
    return { ...(await Promise.race([chat.left, app.waitUntilExit().then(() => chat.left)])), isEnded: attended.isEnded() }
  } finally {
    unnotify()
    closing.abort()
    await editing
    await app.waitUntilRenderFlush().catch(() => undefined)
    full.leave()
    notifier.stop()
    background.stop()
    // Only the conversation stays on the screen.
    app.clear()
    app.unmount()
    await app.waitUntilExit().catch(() => undefined)
    end()
    attended.stop()
  }
}

/** Milliseconds in which the signal that stops the process arrives. */
const STOPPING = 100

/**
 * Stops the process and those that started it, such as npx, until the shell's `fg`. Without a shell that could continue them, the system
 * ignores the signal.
 */
async function stopJob(): Promise<void> {
  if (process.platform === 'win32') return
  process.kill(0, 'SIGTSTP')
  await new Promise((resolve) => setTimeout(resolve, STOPPING))
}

/** Returns a stdout that still writes to the screen while `process.stdout` is captured. */
function screenOf(output: Output) {
  const size = (): Size => realSize(process.stdout)
  const reflow = createReflow(() => size().columns)
  const write = (text: string): void => output.out(reflow.pass(text))
  const resizing = createResizing(size, { write, resized: reflow.resized, settled: settledAfter(process.env) })
  const { full, pass } = createFullScreen(output.out, resizing.pass)
  // Before the renderer, which draws at once.
  process.stdout.on('resize', resizing.begin)
  process.once('exit', resizing.release)
  const end = (): void => {
    process.stdout.off('resize', resizing.begin)
    process.off('exit', resizing.release)
    resizing.release()
  }
  const stdout = overridden(process.stdout, { write: writer(pass, (done) => void output.flush().then(done)) })
  return { stdout, full, release: resizing.release, end }
}

/** Returns stdin, of which everything that is read passes through `filter` and is also passed to `see`. */
function watched(see: (text: string) => void, filter: (text: string | null) => string | null): NodeJS.ReadStream {
  const read: NodeJS.ReadStream['read'] = (size) => {
    const chunk: unknown = process.stdin.read(size)
    const text = filter(chunk === null ? null : String(chunk))
    if (text !== null && text !== '') see(text)
    return text
  }
  return overridden(process.stdin, { read })
}

export interface AppProps {
  readonly chat: Chat
  readonly colors: Look['colors']
  readonly history: PromptHistory
  readonly complete: Completer
  /** Returns what is inserted for a paste. */
  readonly pasted: (text: string) => string
  /** Returns the mention of the image in the clipboard. @throws UsageError */
  readonly pasteImage: (signal: AbortSignal) => Promise<string>
}

type Suspend = ReturnType<typeof useApp>['suspendTerminal']

interface ScreenProps extends Omit<AppProps, 'pasteImage'> {
  readonly full: FullScreen
  readonly edit: (text: string, suspend: Suspend) => Promise<string | undefined>
  /** Stops the process, as a shell's job. */
  readonly stop: (suspend: Suspend) => Promise<void>
  readonly image: () => Promise<string | undefined>
}

export function App({ chat, colors, history, complete, pasted, full, edit, stop, image }: ScreenProps): ReactNode {
  const current = useSyncExternalStore(chat.subscribe, chat.state)
  const { panel } = current
  // What a panel covers is drawn when it is closed.
  const covered = useRef(current)
  if (!panel) covered.current = current
  const state = covered.current
  const { columns, rows } = useWindowSize()
  const now = useNow(state.busy !== undefined && !panel)
  const [draft, setDraft] = useState('')
  const { items, question } = state
  const lastKey = useRef(0)
  const { write } = useStdout()
  const { suspendTerminal } = useApp()
  const onKey = (): void => {
    lastKey.current = Date.now()
  }
  const onSuspend = (): void => void stop(suspendTerminal)
  const onDraft = (text: string): void => {
    setDraft(text)
    chat.stay()
  }
  // Text being typed is not an answer: it must be sent or cleared first.
  const isAnswering = question !== undefined && draft === ''
  const look = { columns, colors }
  return (
    <>
      {panel && (
        <PanelView
          panel={panel}
          screen={full}
          size={{ columns, rows }}
          notice={current.question ? colors.yellow('A question waits: Esc') : ''}
        />
      )}
      <Static items={items as Item[]}>
        {(item, at) => <ItemView key={at} item={item} gap={at > 0 && hasGap(items[at - 1], item)} {...look} />}
      </Static>
      <Box flexDirection="column" width={columns}>
        <Live state={state} rows={rows} subject={chat.subject} now={now} {...look} />
        {!question && <Queued state={state} {...look} />}
        {question && (
          <>
            <QuestionView {...{ question, chat, colors, lastKey, onKey, onSuspend }} isActive={!panel} isTyping={draft !== ''} />
            <Queued state={state} {...look} />
          </>
        )}
        <Box display={isAnswering ? 'none' : 'flex'} marginTop={1}>
          <Prompt
            key="message"
            isActive={!isAnswering && !panel}
            placeholder={items.length > 1 ? '' : 'What should be done?'}
            onChange={onDraft}
            draft={state.draft}
            onEmptyKey={({ name }) => name === 'escape' && chat.escape()}
            onTwoEscapes="/rewind "
            onKey={onKey}
            onPaste={pasted}
            history={history}
            complete={complete}
            onSubmit={chat.submit}
            onInterrupt={chat.interrupt}
            onCycle={chat.cycleMode}
            onExpand={chat.expand}
            onSuspend={onSuspend}
            onEdit={(text) => edit(text, suspendTerminal)}
            onImage={image}
            onClear={() => write(CLEAR)}
            onExit={chat.leave}
          />
        </Box>
        <Status state={state} {...look} />
      </Box>
    </>
  )
}

/** Clears the screen and moves the cursor to its first row. */
const CLEAR = '\x1b[2J\x1b[H'

function Status({ state, columns, colors }: { readonly state: ChatState } & Look): ReactNode {
  const { choice, yes, view, sandbox, isLeavingNext, busy } = state
  const { settings, named, configured } = choice
  if (isLeavingNext) return <Text wrap="truncate-end">{colors.yellow('  press Ctrl-C again, /quit or Ctrl-D to quit')}</Text>
  const text = statusText(
    {
      ...{ model: configured.model.id, where: configured.model.where, contextTokens: view.contextTokens ?? configured.model.contextTokens },
      ...{ agent: named.name, mode: modeText(settings, yes), sandbox, contextUsed: view.contextUsed },
      requests: busy?.with === 'turn' ? { made: view.requests, most: settings.limits.requests.value } : undefined,
    },
    columns - 2,
  )
  return <Text wrap="truncate-end">{colors.dim(`  ${text}`)}</Text>
}

const TICK = 1000

/** Returns milliseconds since 1970, updated each second while something is running. */
function useNow(isRunning: boolean): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (!isRunning) return
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), TICK)
    return () => clearInterval(timer)
  }, [isRunning])
  return now
}
