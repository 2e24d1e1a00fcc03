/** Which keys answer a question: one key after a silence, or a choice made with the arrows. */
import { render } from 'ink'
import { createElement } from 'react'
import { afterEach, expect, it, vi } from 'vitest'
import { plain } from '../ui/colors.ts'
import type { Chat } from './chat-types.ts'
import { terminal } from './input/terminal.fixture.ts'
import { QUIET } from './one-key.ts'
import { QuestionView, SEEN } from './question.tsx'

const LINE = '  [y]es once, [s]ession, [n]o and why: '
const [DOWN, ENTER] = ['\x1b[B', '\r']

/** @param ago milliseconds since the key before the first one. @param shown milliseconds for which the question has been shown */
async function answered(ago: number, shown: number, keys: readonly string[]): Promise<readonly string[]> {
  let time = 1_000_000
  vi.spyOn(Date, 'now').mockImplementation(() => time)
  const { stdin, stdout, give } = terminal(60)
  const said: string[] = []
  const lastKey = { current: Date.now() + shown - ago }
  const chat = { answer: (text: string) => said.push(text), escape: () => false } as unknown as Chat
  const onKey = (): void => {
    lastKey.current = Date.now()
  }
  const app = render(
    createElement(QuestionView, { question: { line: LINE }, chat, colors: plain, isActive: true, isTyping: false, lastKey, onKey }),
    {
      stdin,
      stdout,
      exitOnCtrlC: false,
      interactive: true,
      patchConsole: false,
    },
  )
  await app.waitUntilRenderFlush()
  time += shown
  for (const key of keys) give(key)
  app.unmount()
  return said
}

afterEach(() => void vi.restoreAllMocks())

const LONG = 2 * QUIET
it.each<[ago: number, shown: number, keys: string[], answers: string[]]>([
  [LONG, 0, ['y'], ['y']],
  [0, 0, ['y'], []],
  // As in other agents, with Enter or without. Just as the question appears, both may be meant for the message that is being typed.
  [LONG, 0, ['2'], ['s']],
  [LONG, 0, ['4', ENTER], ['4']],
  [0, 0, ['2'], []],
  [0, 0, ['3', ENTER], ['n']],
  [LONG, SEEN, [DOWN, ENTER], ['y']],
  [LONG, SEEN, [DOWN, DOWN, DOWN, ENTER], ['n']],
  // Up and Enter may be meant for an earlier message, just as the question appears.
  [LONG, SEEN - 1, [DOWN, ENTER], []],
  [0, SEEN, [DOWN, ENTER], []],
  [LONG, SEEN, [ENTER], []],
])('%i ms after the last key, shown for %i ms, %j answers %j', async (ago, shown, keys, answers) =>
  expect(await answered(ago, shown, keys)).toEqual(answers))
