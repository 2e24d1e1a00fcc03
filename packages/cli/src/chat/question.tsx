/** Renders an open question, and its input: one key answers a choice, the arrows and Enter too, and a line anything else. */
import { Text, useWindowSize } from 'ink'
import { type ReactNode, type RefObject, useReducer, useRef } from 'react'
import { choiceNamed, keysIn } from '../approval/choices.ts'
import type { Chat, Question } from './chat-types.ts'
import type { Completer } from './input/completion.ts'
import type { PromptHistory } from './input/history.ts'
import type { EditorKey } from './input/keys.ts'
import { Prompt } from './input/prompt.tsx'
import { Lines, type Look } from './items.tsx'
import { hanging } from './markdown/wrap.ts'
import { inOneKey, oneKeyAnswer, QUIET, withChosen } from './one-key.ts'

export interface QuestionProps {
  readonly question: Question
  readonly chat: Chat
  readonly colors: Look['colors']
  /** Whether it reads keys. */
  readonly isActive: boolean
  /** Whether a message is being typed, which must be sent or cleared first. */
  readonly isTyping: boolean
  /** When the last key was pressed, in milliseconds since 1970. */
  readonly lastKey: RefObject<number>
  readonly onKey: () => void
  /** Called on Ctrl-Z. */
  readonly onSuspend?: () => void
}

const NO_HISTORY: PromptHistory = { entries: () => [], add: () => undefined }
const NO_COMPLETION: Completer = async () => undefined

/** Milliseconds after which a question has been seen. */
export const SEEN = 1000

const STEPS: Readonly<Record<string, number>> = { left: -1, up: -1, right: 1, down: 1 }

export function QuestionView({ question, chat, colors, isActive, isTyping, lastKey, onKey, onSuspend }: QuestionProps): ReactNode {
  const { line } = question
  const { columns } = useWindowSize()
  const keys = keysIn(line)
  // Keys can arrive faster than renders, so each one continues from the latest choice.
  const chosen = useRef<{ readonly of: Question; readonly at: number; readonly isSeen: boolean }>(undefined)
  const shown = useRef({ of: question, since: Date.now() })
  if (shown.current.of !== question) shown.current = { of: question, since: Date.now() }
  const [, redraw] = useReducer((count: number) => count + 1, 0)
  const chosenAt = (): number | undefined => (chosen.current?.of === question ? chosen.current.at : undefined)

  /**
   * Each answer needs silence before it, and so does the first arrow: they may be meant for the message that was being typed. Enter needs none
   * after an arrow that was pressed when the question had been on the screen for a while.
   */
  function onEmptyKey(key: EditorKey): boolean {
    const quiet = Date.now() - lastKey.current
    const by = STEPS[key.name]
    const at = chosenAt()
    if (key.name === 'escape') return chat.escape()
    if (by !== undefined && keys.length > 0) {
      if (at === undefined && quiet < QUIET) return true
      const isSeen = at === undefined ? Date.now() - shown.current.since >= SEEN : chosen.current?.isSeen === true
      chosen.current = { of: question, at: at === undefined ? 0 : (at + by + keys.length) % keys.length, isSeen }
      redraw()
      return true
    }
    const named = key.name === 'text' ? key.text : key.name === 'enter' && at !== undefined ? keys[at] : undefined
    const isMeant = key.name === 'enter' && chosen.current?.isSeen === true
    const answer = named === undefined || isMeant ? named : oneKeyAnswer(named, line, quiet)
    if (answer === undefined) return false
    chat.answer(answer)
    return true
  }

  return (
    <>
      {line.trim() !== '>' && <Lines lines={hanging(withChosen(inOneKey(line), keys[chosenAt() ?? -1], colors.bold), columns)} />}
      {isTyping ? (
        <Text>{colors.dim('  Send or clear what you have typed, then answer.')}</Text>
      ) : (
        <Prompt
          key="answer"
          isActive={isActive}
          history={NO_HISTORY}
          complete={NO_COMPLETION}
          onKey={onKey}
          onEmptyKey={onEmptyKey}
          onSubmit={(text) => chat.answer(choiceNamed(text, line) ?? text)}
          onInterrupt={chat.interrupt}
          onExpand={chat.expand}
          onSuspend={onSuspend}
          onExit={chat.interrupt}
        />
      )}
    </>
  )
}
