/** Rules of the chat: what reaches the screen, what counts as an answer, and what is sent. */
import type { Mutation } from './mutation.ts'

const chat = (file: string): string => `packages/cli/src/chat/${file}`
const held = (name: string): Mutation['test'] => ({ file: chat('chat.test.ts'), name })

export const CHAT: readonly Mutation[] = [
  {
    id: 'chat-sanitize',
    rule: 'chat: no escape sequence in an answer reaches the screen',
    file: chat('view.ts'),
    find: `({ kind: 'answer', text: sanitize(text), gap })`,
    replace: `({ kind: 'answer', text, gap })`,
    test: held('no escape sequence of a model, a tool or a file is shown'),
  },
  {
    id: 'chat-sanitize-display',
    rule: 'chat: no escape sequence in a file reaches the screen',
    file: chat('view.ts'),
    find: `const text = sanitize(display)`,
    replace: `const text = display`,
    test: held('no escape sequence of a model, a tool or a file is shown'),
  },
  {
    id: 'chat-answers',
    rule: 'chat: text typed during a turn waits, and does not answer a question',
    file: chat('chat.ts'),
    find: `else queued = [...queued, typed.trim()]`,
    replace: `else questions.answer(typed)`,
    test: held('asks, and takes back what was changed'),
  },
  {
    id: 'chat-unknown-command',
    rule: 'chat: an unknown command is not sent as a message',
    file: chat('chat-input.ts'),
    find: `if (command) return`,
    replace: `if (command && text.startsWith('/help')) return`,
    test: held('what is not a command is not sent; two slashes are'),
  },
  {
    id: 'chat-drops-queue',
    rule: 'chat: waiting messages are not sent after a turn that was stopped',
    file: chat('chat.ts'),
    find: `if (stop.signal.aborted) dropQueued()`,
    replace: ``,
    test: held('Ctrl-C stops the turn in its stream'),
  },
]
