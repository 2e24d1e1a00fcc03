/** The chat on the screen: what is finished goes to the terminal's own scrollback; below it stands what is going on, and the input. */
import { Box, Static, Text, useWindowSize } from 'ink'
import { type ReactNode, useEffect, useState, useSyncExternalStore } from 'react'
import type { Chat, ChatState } from './chat-types.ts'
import type { Completer } from './input/completion.ts'
import type { PromptHistory } from './input/history.ts'
import { Prompt } from './input/prompt.tsx'
import { ItemView, type Look } from './items.tsx'
import { Live, Queued } from './live.tsx'
import { statusText } from './status.ts'
import { hasGap, type Item } from './view.ts'

export interface AppProps {
  readonly chat: Chat
  readonly colors: Look['colors']
  readonly history: PromptHistory
  readonly complete: Completer
}

export function App({ chat, colors, history, complete }: AppProps): ReactNode {
  const state = useSyncExternalStore(chat.subscribe, chat.state)
  const { columns, rows } = useWindowSize()
  const now = useNow(state.busy !== undefined)
  const [draft, setDraft] = useState('')
  const { items, question } = state
  // What is being typed is no answer: it is sent or cleared first.
  const isAnswering = question !== undefined && draft === ''
  const look = { columns, colors }
  return (
    <>
      <Static items={items as Item[]}>
        {(item, at) => <ItemView key={at} item={item} gap={at > 0 && hasGap(items[at - 1], item)} {...look} />}
      </Static>
      <Box flexDirection="column" width={columns}>
        <Live state={state} rows={rows} subject={chat.subject} now={now} {...look} />
        {!question && <Queued state={state} {...look} />}
        {question && (
          <>
            {question.line.trim() !== '>' && <Text>{question.line}</Text>}
            {isAnswering ? (
              <Prompt
                key="answer"
                isActive
                history={NO_HISTORY}
                complete={NO_COMPLETION}
                onSubmit={chat.answer}
                onInterrupt={chat.interrupt}
                onExit={chat.interrupt}
              />
            ) : (
              <Text>{colors.dim('  Send or clear what you have typed, then answer.')}</Text>
            )}
            <Queued state={state} {...look} />
          </>
        )}
        <Box display={isAnswering ? 'none' : 'flex'} marginTop={1}>
          <Prompt
            key="message"
            isActive={!isAnswering}
            placeholder={items.length > 1 ? '' : 'What should be done?'}
            onChange={setDraft}
            history={history}
            complete={complete}
            onSubmit={chat.submit}
            onInterrupt={chat.interrupt}
            onExit={chat.leave}
          />
        </Box>
        <Status state={state} {...look} />
      </Box>
    </>
  )
}

const NO_HISTORY: PromptHistory = { entries: () => [], add: () => undefined }
const NO_COMPLETION: Completer = async () => undefined

function Status({ state, columns, colors }: { readonly state: ChatState } & Look): ReactNode {
  const { choice, view, sandbox, isLeavingNext, busy } = state
  const { settings, named, configured } = choice
  if (isLeavingNext) return <Text wrap="truncate-end">{colors.yellow('  press Ctrl-C again, /quit or Ctrl-D to quit')}</Text>
  const text = statusText(
    {
      ...{ model: configured.model.id, where: configured.model.where, contextTokens: view.contextTokens ?? configured.model.contextTokens },
      ...{ agent: named.name, mode: settings.approval.mode.value, sandbox, contextUsed: view.contextUsed },
      requestsLeft: busy?.with === 'turn' ? settings.limits.requests.value - view.requests : undefined,
    },
    columns - 2,
  )
  return <Text wrap="truncate-end">{colors.dim(`  ${text}`)}</Text>
}

const TICK = 1000

/** Milliseconds since 1970, again each second while something runs. */
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
