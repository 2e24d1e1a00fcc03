/** What the scripted model of the scenes answers: by the beginning of the user's last message, one turn for each request since. */
import { call, calls, type RecordedRequest, type ScriptedTurn, say, think } from '@mulligan/testing'

/** Text that would act on a terminal: moves, titles, the clipboard, a link that lies, and the same in one byte. */
export const HOSTILE =
  'a\x1b[2J\x1b[1;1Hb\x1b]0;PWNED\x07c\x1b]52;c;UFdORUQ=\x07d\x1b]8;;https://evil.example\x07e\x1b]8;;\x07f\x9b31mg\x1bPq#0\x1b\\h\u202ei\rj\x08k\x07l'

export const MARKDOWN = `# What I found

The budget is in **notes/plan.md**, see \`grep\` and [the place](https://example.org/a):

1. a first point that is so long that it does not fit on one line of a terminal with eighty columns
2. a second
   - with a part
- [x] done
- [ ] open

> quoted, and *emphasized*

---

The end.`

const TABLE = `| file | lines | what it is for |
|---|---:|---|
| src/app.ts | 12 | starts everything |
| notes/plan.md | 1 | the budget |

| a table that | is wider than most terminals are, because its cells are long | and so it is shown as a list where it does not fit |
|---|---|---|
| one | two | three |`

const CODE = `\`\`\`ts
import { readFile } from 'node:fs/promises'

/** Reads the plan. */
export async function plan(path: string): Promise<string> {
  return (await readFile(path, 'utf8')).trim() // a line that is longer than a terminal of eighty columns is wide
}
\`\`\`

\`\`\`diff
@@ -1,2 +1,2 @@
 Plan
-Budget: 30,000
+Budget: 40,000
\`\`\``

const WIDE = `漢字とかなは二列を占める。長い行は端末の幅で折り返され、その際に文字が半分に切られることはない。

| 名前 | 👩‍👩‍👧 |
|---|---|
| 東京 | 1 |

Ünïcödé, e\u0301, 👍🏽, ﬁn.`

const BASH_LONG = 'for i in $(seq 1 60); do echo "line $i of the output"; done'
const EDIT = { path: 'src/app.ts', edits: [{ old_text: 'const limit = 10', new_text: 'const limit = 20\nconst more = true' }] }

const TODOS = {
  items: [
    { text: 'Read the plan', status: 'completed' },
    { text: 'Change the limit', status: 'in_progress' },
    { text: 'Run the tests', status: 'pending' },
  ],
}

const REPLIES: Readonly<Record<string, readonly ScriptedTurn[]>> = {
  hello: [say('Here I am.')],
  'think about': [think('Hmm. '.repeat(200), say('I have thought.'))],
  stream: [say(['I begin, and ', 'then I go on', ' with no end'], { fault: { hang: 4 } })],
  'show markdown': [say(MARKDOWN)],
  'show tables': [say(TABLE)],
  'show code': [say(CODE)],
  'show wide': [say(WIDE)],
  'be hostile': [call('read_file', { path: 'hostile.txt' }), say(`I say: ${HOSTILE}\n\n\`\`\`sh\n${HOSTILE}\n\`\`\`\n\nThat was hostile.`)],
  'read the plan': [call('read_file', { file_path: 'notes/plan.md', limit: '20' }), say('It is 40,000.')],
  'read a lot': [call('read_file', { path: 'long.txt' }), say('It has 60 lines.')],
  'read what is not there': [call('read_file', { path: 'notes/plans.md' }), call('read_file', { path: 'notes/plan.md' }), say('Found.')],
  'search for nothing': [call('grep', { pattern: 'nowhere' }), say('There is none.')],
  'edit it': [call('edit_file', EDIT), say('Edited.')],
  'write it': [call('write_file', { path: 'new.txt', content: `one\n${HOSTILE}\n` }), say('Left as it was.')],
  'run it': [call('bash', { command: 'echo done' }), say('It ran.')],
  'make it by': [call('bash', { command: 'touch made.txt && npm run build' }), say('Not made.')],
  'run and fail': [call('bash', { command: 'echo going; echo broken >&2; exit 3' }), say('It failed.')],
  'run long': [call('bash', { command: BASH_LONG }), say('It printed 60 lines.')],
  'fetch it': [call('web_fetch', { url: 'https://example.org/page' }), say('Not fetched.')],
  'ask me': [call('ask_user', { question: 'Which one do you want?', options: ['the first', 'the second'] }), say('As you wish.')],
  'fail at once': [{ fault: { status: 400, message: `no such thing ${HOSTILE}` } }],
  'be limited': [{ fault: { status: 429, retryAfter: 0 } }, say('After a pause.')],
  loop: [...Array.from({ length: 6 }, () => call('read_file', { path: 'missing.txt' })), say('I give up.'), say('I give up.')],
  'go on and on': Array.from({ length: 9 }, (_, at) => call('read_file', { path: 'long.txt', offset: at + 1, limit: 1 })),
  'Fix issue 12': [say('Issue 12 is fixed.')],
  'Write the file AGENTS.md': [say('AGENTS.md would be written.')],
  'list what to do': [call('todo', TODOS), say(['I begin, and ', 'then I go on', ' with no end'], { fault: { hang: 4 } })],
  'read all of it': [calls(...[1, 2, 3, 4].map((at) => ['read_file', { path: `big/${at}.txt` }] as const))],
  'give tasks': [
    call('task', { agent: 'explore', task: 'FIND the budget' }),
    call('task', { agent: 'explore', task: 'COUNT the lines' }),
    say('Both are done.'),
  ],
  FIND: [call('grep', { pattern: 'Budget' }), say('In notes/plan.md.')],
  COUNT: [call('read_file', { path: 'long.txt', limit: 1 }), say('60.')],
}

interface Message {
  readonly role: string
  readonly content: unknown
}

/** @param failed what has failed once, and does not again */
export const sceneModel =
  (failed = new Set<ScriptedTurn>()) =>
  ({ body }: RecordedRequest): ScriptedTurn => {
    const { messages } = body as { readonly messages: readonly Message[] }
    const at = messages.findLastIndex(({ role, content }) => role === 'user' && keyIn(content) !== undefined)
    const key = keyIn(messages[at]?.content)
    const since = messages.slice(at + 1).filter(({ role }) => role === 'assistant').length
    const turns = (key === undefined ? undefined : REPLIES[key]) ?? []
    const [first] = turns
    const isAgain = first?.fault !== undefined && 'retryAfter' in first.fault && failed.has(first)
    if (first) failed.add(first)
    return turns[isAgain ? since + 1 : since] ?? say('So be it.')
  }

function keyIn(content: unknown): string | undefined {
  const text = typeof content === 'string' ? content : JSON.stringify(content)
  return Object.keys(REPLIES).find((key) => text.includes(key))
}
