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
    find: `else waiting.add(typed)`,
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
  {
    id: 'chat-one-key-quiet',
    rule: 'a key typed as the question appears is not an answer',
    file: chat('one-key.ts'),
    find: `quiet >= QUIET && `,
    replace: ``,
    test: { file: chat('one-key.test.ts'), name: 'after 0 ms' },
  },
  {
    id: 'chat-command-mentions',
    rule: "files that a command's text names are not named by the user",
    file: chat('chat.ts'),
    find: `send(promptFor(own, args), options.mentioned(args), signal)`,
    replace: `send(promptFor(own, args), options.mentioned(promptFor(own, args)), signal)`,
    test: { file: chat('chat.test.ts'), name: 'sends the text of a command of the project' },
  },
  {
    id: 'undo-latest',
    rule: 'undo does not revert an earlier turn for one that can not be undone',
    file: 'packages/cli/src/commands/undo.ts',
    find: `if (effects.length === 0) return`,
    replace: `return`,
    test: { file: 'packages/cli/src/commands/undo.test.ts', name: 'does not take back an earlier turn' },
  },
  {
    id: 'session-model-project',
    rule: 'a session does not remember a model that a project chose',
    file: 'packages/host/src/choice/effective-model.ts',
    find: `named.some(({ origin }) => origin === 'project')`,
    replace: `false`,
    test: { file: 'packages/cli/src/commands/sessions/sessions.test.ts', name: 'is not remembered if a project chose it' },
  },
  {
    id: 'edit-escaped-unclear',
    rule: 'an escape that the old text lacks is not resolved',
    file: 'packages/tools/src/files/edit_file/match/strategies.ts',
    find: `if (![...escapesIn(newText)].every((kind) => kinds.has(kind))) return undefined`,
    replace: ``,
    test: { file: 'packages/tools/src/files/edit_file/match/match.test.ts', name: 'an escape that the old text lacks' },
  },
  {
    id: 'user-tools-endless',
    rule: 'a tool file whose loading never ends is left out',
    file: 'packages/tools/src/user-tools.ts',
    find: `if (endless.has(file)) throw unfinished(seconds)`,
    replace: `if (endless.has(file)) throw new Error('left out')`,
    test: { file: 'packages/tools/src/user-tools.test.ts', name: 'a file that never finishes loading' },
  },
]
