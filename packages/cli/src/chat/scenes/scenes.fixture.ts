/**
 * The scenes that a person sees in the chat. A story is one chat, in which its scenes follow one another; each begins on a cleared screen.
 * What is on the screen at its end is kept in `screens/SIZE/NAME.txt`.
 */
import type { CliFixture } from '../../../test/cli.fixture.ts'
import type { Screen } from '../../../test/screen.fixture.ts'
import { QUIET } from '../one-key.ts'

/** An MCP server with one tool. */
const MCP_SERVER = `import { createInterface } from 'node:readline'
const RESULTS = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'notes', version: '1' } }),
  'tools/list': () => ({ tools: [{ name: 'add', description: 'Adds a note.', inputSchema: { type: 'object', properties: {} } }] }),
}
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  const result = RESULTS[method]?.(params)
  const answer = result ? { result } : { error: { code: -32601, message: 'unknown method' } }
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...answer }) + '\\n')
})
`

export interface Scene {
  readonly name: string
  /** Types, and waits for what ends the scene. */
  readonly act: (screen: Screen, here: CliFixture) => Promise<unknown>
  /** What must be on the screen exactly once, besides the status line. */
  readonly once?: readonly (string | RegExp)[]
  /** Done after the screen was kept, to be ready for the next scene. */
  readonly after?: (screen: Screen) => Promise<unknown>
  /** `start`: the screen is not cleared before. `leaving`, `ended`: there is no status line. `panel`: the alternate screen. */
  readonly is?: 'start' | 'ended' | 'leaving' | 'panel' | 'plain'
}

export interface Story {
  readonly name: string
  readonly args?: readonly string[]
  readonly files?: Readonly<Record<string, string>>
  /** The user's configuration. */
  readonly config?: (here: CliFixture) => object
  readonly env?: Readonly<Record<string, string>>
  readonly scenes: readonly Scene[]
  /** Whether `npm test` plays it too, in one size. */
  readonly isSample?: true
}

export async function send(screen: Screen, text: string): Promise<void> {
  await screen.type(text)
  await screen.keys('Enter')
}

/** Matches the end of a turn. */
const ENDED = /\d+ requests? · [\d,]+ tokens[\s\S]*mode/
const isIdle = (text: string): boolean => ENDED.test(text) && !/stops$/m.test(text)

/** Sends a message, and waits until its turn has ended. */
const turn =
  (text: string, pattern: string | RegExp = '') =>
  async (screen: Screen): Promise<void> => {
    await send(screen, text)
    await screen.until((shown) => isIdle(shown) && (typeof pattern === 'string' ? shown.includes(pattern) : pattern.test(shown)))
  }

const ASKS = /why:\s*\n> *$/m
const asked = (text: string) => async (screen: Screen) => {
  await send(screen, text)
  await screen.until((shown) => ASKS.test(shown) || /why:$/m.test(shown))
}
/** One key answers only when nobody has been typing. */
async function answer(screen: Screen, key: string): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, QUIET + 50))
  await screen.type(key)
}
const said = (text: string, pattern: string | RegExp) => async (screen: Screen) => {
  await send(screen, text)
  await screen.until(pattern)
}
const begun = (shown: string): boolean => shown.includes('with no end')
const stopped = async (screen: Screen): Promise<void> => {
  await screen.keys('C-c')
  await screen.until((shown) => shown.includes('Cancelled') && !/stops$|stopping/m.test(shown))
  await screen.keys('C-u')
}

const LONG = Array.from({ length: 60 }, (_, at) => `this is line ${at + 1}\n`).join('')
export const FILES: Readonly<Record<string, string>> = {
  'notes/plan.md': 'Budget: 40,000\n',
  'src/app.ts': `import { plan } from './plan.ts'\n\nconst limit = 10\n\nexport const app = () => plan(limit)\n`,
  'long.txt': LONG,
}

const LOOKS: Story = {
  name: 'looks',
  isSample: true,
  scenes: [
    { name: 'start', is: 'start', act: (screen) => screen.ready('What should be done?'), once: [/^Mulligan/gm, /What should/g] },
    { name: 'first-answer', act: turn('hello', 'Here I am.'), once: ['> hello', 'Here I am.'] },
    { name: 'thinking', act: turn('think about it', 'I have thought.'), once: ['Thought for', 'I have thought.'] },
    { name: 'markdown', act: turn('show markdown', 'The end.'), once: ['What I found', 'The end.', /^> show/gm] },
    { name: 'tables', act: turn('show tables', 'three'), once: ['the budget', 'three'] },
    { name: 'code', act: turn('show code', 'Budget: 40,000'), once: ['Reads the plan', 'Budget: 30,000'] },
    { name: 'wide-characters', act: turn('show wide', '東京'), once: ['東京', 'Ünïcödé'] },
    { name: 'hostile', act: turn('be hostile', 'That was hostile.'), once: ['I say:', 'That was hostile.'] },
    {
      name: 'streaming',
      act: async (screen) => {
        await send(screen, 'stream')
        await screen.until(begun)
      },
      once: ['> stream', 'I begin'],
      after: stopped,
    },
    {
      name: 'interrupt',
      act: async (screen) => {
        await send(screen, 'stream')
        await screen.until(begun)
        await stopped(screen)
      },
      once: ['Cancelled.'],
    },
  ],
}

const CARDS: Story = {
  name: 'cards',
  args: ['--mode', 'auto'],
  config: () => ({ sandbox: { backend: 'none' }, policy: [{ tool: 'bash', decision: 'allow' }] }),
  scenes: [
    { name: 'card-read', act: turn('read the plan', 'It is 40,000.'), once: ['✓ read_file', 'It is 40,000.'] },
    { name: 'card-read-long', act: turn('read a lot', 'It has 60 lines.'), once: ['✓ read_file', 'more lines'] },
    { name: 'card-retry', act: turn('read what is not there', 'Found.'), once: ['● read_file', '✓ read_file'] },
    { name: 'card-search-empty', act: turn('search for nothing', 'There is none.'), once: ['✓ grep'] },
    { name: 'card-edit', act: turn('edit it', 'Edited.'), once: ['✓ edit_file', 'const more = true'] },
    { name: 'diff', act: said('/diff', /const more = true[\s\S]*mode/), once: ['const more = true'] },
    { name: 'undo', act: said('/undo', /src\/app\.ts[\s\S]*mode/), once: ['> /undo'] },
    { name: 'card-bash', act: turn('run it', 'It ran.'), once: ['✓ bash', 'It ran.'] },
    { name: 'card-bash-failed', act: turn('run and fail', 'It failed.'), once: ['[stderr]', 'It failed.'] },
    { name: 'card-bash-long', act: turn('run long', 'It printed 60 lines.'), once: ['earlier lines', 'line 60 of the output'] },
    {
      name: 'card-in-full',
      is: 'panel',
      act: async (screen) => {
        await screen.keys('C-o')
        await screen.until(/^Call \d+ of \d+ · bash/)
      },
      after: async (screen) => {
        await screen.keys('Escape')
        await screen.until('mode auto')
      },
    },
    { name: 'loop-guard', act: turn('loop', /closed|give up|stopped|limit/), once: ['> loop'] },
    { name: 'subagents', act: turn('give tasks', 'Both are done.'), once: ['Both are done.', 'FIND the budget', 'COUNT the lines'] },
  ],
}

const APPROVALS: Story = {
  name: 'approvals',
  config: () => ({ sandbox: { backend: 'none' } }),
  scenes: [
    { name: 'approval-edit', act: asked('edit it'), once: ['? edit_file', 'const more = true'], after: (screen) => answer(screen, 'y') },
    {
      name: 'approved',
      is: 'start',
      act: (screen) => screen.until((shown) => shown.includes('Edited.') && isIdle(shown)),
      once: ['✓ edit_file', 'const more = true', 'Edited.'],
    },
    { name: 'approval-hostile', act: asked('write it'), once: ['? write_file'], after: (screen) => answer(screen, 'N') },
    {
      name: 'denied',
      is: 'start',
      act: async (screen) => {
        await send(screen, ' not there')
        await screen.until((shown) => shown.includes('Left as it was.') && isIdle(shown))
      },
      once: ['Left as it was.', '✗ write_file'],
    },
    {
      name: 'approval-bash',
      act: asked('make it by'),
      once: ['? bash'],
      after: async (screen) => {
        await answer(screen, 'n')
        await screen.until(isIdle)
      },
    },
    {
      name: 'approval-external',
      act: asked('fetch it'),
      once: ['? web_fetch'],
      after: async (screen) => {
        await answer(screen, 'n')
        await screen.until(isIdle)
      },
    },
    {
      name: 'question-of-the-model',
      act: async (screen) => {
        await send(screen, 'ask me')
        await screen.until(/2 {2}the second[\s\S]*own answer:\n/)
      },
      once: ['Which one do you want?', 'the second'],
      after: async (screen) => {
        await answer(screen, '2')
        await screen.until(isIdle)
      },
    },
  ],
}

const WORK: Story = {
  name: 'work',
  files: { '.mulligan/commands/fix.md': '---\ndescription: fix an issue\nargument-hint: "[ISSUE]"\n---\nFix issue $1 now.\n' },
  scenes: [
    {
      name: 'steering',
      act: async (screen) => {
        await send(screen, 'stream')
        await screen.until(begun)
        await send(screen, 'and mind the tests')
        await screen.until(/steering and mind the tests[\s\S]*takes the last/)
      },
      once: ['steering and mind the tests', 'I begin'],
      after: stopped,
    },
    {
      name: 'queue',
      act: async (screen) => {
        await send(screen, 'stream')
        await screen.until(begun)
        await send(screen, '/diff')
        await screen.until('queued /diff')
        await send(screen, 'then this')
        await screen.until(/queued \/diff[\s\S]*queued then this/)
      },
      once: ['queued /diff', 'queued then this'],
      after: stopped,
    },
    { name: 'own-shell', act: said('!echo from my shell; exit 2', /exit code 2[\s\S]*mode/), once: [/^from my shell/gm] },
    {
      name: 'paste',
      act: async (screen) => {
        await screen.paste(`${LONG}the end`)
        await screen.until(/lines[\s\S]*mode/)
      },
      after: (screen) => screen.keys('C-c'),
    },
    {
      name: 'completion',
      act: async (screen) => {
        await screen.type('/m')
        await screen.until(/\/mode[\s\S]*\/mcp/)
      },
      after: (screen) => screen.keys('Escape', 'C-u'),
    },
    { name: 'custom-command', act: turn('/fix 12', 'Issue 12 is fixed.'), once: ['> /fix 12', 'Issue 12 is fixed.'] },
    { name: 'init', act: turn('/init', 'AGENTS.md would be written.'), once: ['> /init', 'would be written'] },
    { name: 'provider-error', act: turn('fail at once', 'no such thing'), once: [/^> fail/gm] },
    { name: 'rate-limit', act: turn('be limited', 'After a pause.'), once: ['Trying again', 'After a pause.'] },
    { name: 'mode-switch', act: said('/mode auto-edit', /> +auto-edit[\s\S]*mode auto-edit/), once: ['> /mode'] },
    { name: 'model-switch', act: said('/model openai-compatible/other', /From now on[\s\S]*other on/), once: ['From now on'] },
    { name: 'themes', act: said('/theme terminal', /Written to[\s\S]*> +terminal[\s\S]*none/), once: ['Written to'] },
    { name: 'status', act: said('/status', /session +\S/), once: [/^model /gm, /^session /gm] },
    { name: 'tools', act: said('/tools', /web_search[\s\S]*mode/), once: [/^read_file/gm] },
    { name: 'cost', act: said('/cost', /MODEL[\s\S]*mode/), once: ['MODEL'] },
    { name: 'unknown-command', act: said('/xyz', 'unknown command'), once: ['unknown command'] },
    { name: 'branch', act: said('/branch', /goes\s+back\.[\s\S]*mode/), once: ['> /branch'] },
    {
      name: 'rewind',
      act: async (screen) => {
        await screen.type('/rewind ')
        await screen.until(/› +\d/)
      },
      after: async (screen) => {
        await screen.keys('Escape', 'C-u')
        await screen.until(/^\s*>\s*\n {2}/m)
      },
    },
    {
      name: 'resume-picker',
      is: 'panel',
      act: async (screen) => {
        await screen.type('/resume')
        await screen.keys('Enter')
        await screen.until(/^Sessions · 2[\s\S]*›/)
      },
      after: async (screen) => {
        await screen.keys('Escape')
        await screen.until('mode auto-edit')
      },
    },
    {
      name: 'ctrl-c-once',
      act: async (screen) => {
        await screen.keys('C-c')
        await screen.until('Ctrl-C again')
      },
      is: 'leaving',
      once: ['Ctrl-C again'],
    },
    {
      name: 'ctrl-c-twice',
      is: 'ended',
      act: async (screen) => {
        await screen.keys('C-c')
        await screen.ended()
      },
      once: ['To continue:'],
    },
  ],
}

const CONTEXT: Story = {
  name: 'context',
  files: Object.fromEntries([1, 2, 3, 4].map((at) => [`big/${at}.txt`, 'some words\n'.repeat(1500)])),
  scenes: [
    {
      name: 'todo-panel',
      act: async (screen) => {
        await send(screen, 'list what to do')
        await screen.until((shown) => begun(shown) && shown.includes('Run the tests'))
      },
      once: ['> list what', 'I begin', '[>] Change the limit\n  [ ] Run the tests'],
      after: stopped,
    },
    {
      name: 'todo-list',
      is: 'start',
      act: async (screen) => {
        await screen.keys('C-l')
        await said('/todo', /> \/todo[\s\S]*Run the tests[\s\S]*mode/)(screen)
      },
      once: ['> /todo', 'todo: 1 of 3 done'],
      after: said('/clear', 'A new session'),
    },
    {
      name: 'compaction',
      act: async (screen) => {
        await turn('read all of it', 'So be it.')(screen)
        await turn('hello', 'Here I am.')(screen)
        // The reads end in any order.
        await screen.keys('C-l')
        await screen.until((shown) => !shown.includes('Here I am.'))
        await screen.forget()
        await said('/compact', /Context compacted[\s\S]*mode/)(screen)
      },
      once: ['> /compact', 'Context compacted'],
    },
  ],
}

const LIMITS: readonly Story[] = [
  { name: 'budget', args: ['--max-requests', '3'], scenes: [{ name: 'budget', act: turn('go on and on'), once: [/^> go on/gm] }] },
  {
    name: 'limits',
    config: () => ({ limits: { calls: 2 } }),
    scenes: [{ name: 'limits', act: turn('go on and on'), once: [/^> go on/gm] }],
  },
  {
    name: 'mcp',
    files: { 'server.mjs': MCP_SERVER },
    config: (here) => ({ mcpServers: { notes: { command: process.execPath, args: [`${here.dir}/server.mjs`] } } }),
    scenes: [{ name: 'mcp', act: said('/mcp', /notes[\s\S]*add[\s\S]*mode/), once: ['> /mcp'] }],
  },
  {
    name: 'plain',
    args: ['--plain'],
    scenes: [
      {
        name: 'plain',
        is: 'plain',
        act: async (screen) => {
          await screen.until(/commands\n>$/)
          await send(screen, 'show tables')
          await screen.until(/tokens\n>$/)
          await send(screen, 'edit it')
          await screen.until(/why:$/)
          await send(screen, 'n')
          await screen.until(/tokens\n>$/)
        },
        once: ['> show tables', 'a table that: one', '? edit_file'],
      },
    ],
  },
]

export const STORIES: readonly Story[] = [LOOKS, CARDS, APPROVALS, WORK, CONTEXT, ...LIMITS]

export const SIZES = [
  [80, 24],
  [120, 40],
  [50, 20],
] as const
