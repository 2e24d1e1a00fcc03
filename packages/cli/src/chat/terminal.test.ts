/** Tests the chat in a real terminal, provided by tmux: what a user sees in the first minutes. */
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { call, type RecordedRequest, type Script, say, scriptedModel, think } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { BIN, type CliFixture, NO_SERVERS, place, trusted, using } from '../../test/cli.fixture.ts'
import { hasScreen, openScreen, type ScreenOptions } from '../../test/screen.fixture.ts'
import { QUIET } from './one-key.ts'

const start = (here: CliFixture, args: readonly string[], { env = {}, ...options }: ScreenOptions = {}) =>
  openScreen([process.execPath, BIN, ...args], {
    ...options,
    cwd: here.dir,
    env: { ...environment(here), ...env },
  })

const TRACE = fileURLToPath(new URL('../../test/trace-imports.fixture.ts', import.meta.url))
const UNBUNDLED = fileURLToPath(new URL('../../test/unbundled.fixture.ts', import.meta.url))

const environment = (here: CliFixture) => ({ HOME: dirname(here.dir), MULLIGAN_DATA_DIR: here.data, ...NO_SERVERS })

/** Replaces the parts that differ between runs. */
const stable = (screen: string): string =>
  `${screen
    .replace(/\d{8}-\d{4}-[a-z0-9]{6}/g, 'SESSION')
    .replace(/[\d,]+ tokens/g, 'N tokens')
    .replace(/context \d+ %/g, 'context N %')
    .replace(/Mulligan \d\S+/, 'Mulligan VERSION')
    .replace(/ \d+ s\b/g, ' N s')
    .trimEnd()}\n`

/** Returns the screen from the line that contains the text. */
const after = (screen: string, text: string): string => screen.slice(screen.lastIndexOf('\n', screen.lastIndexOf(text)) + 1)

/** The open question. Earlier ones are followed by their answers. */
const ASKS = /\[N\]o and why:\n> *$/m

const kept = (name: string): string => join(import.meta.dirname, 'screens', `${name}.txt`)

const userText = ({ body }: RecordedRequest): string => {
  const { messages } = body as { readonly messages: readonly { readonly role: string; readonly content: string }[] }
  const last = messages.at(-1)
  return last?.role === 'user' ? last.content : ''
}

const resultsSay = ({ body }: RecordedRequest, text: string): boolean => {
  const { messages } = body as { readonly messages: readonly object[] }
  return JSON.stringify(messages.at(-1)).includes(text)
}

const PAGE = `# What I found

The budget is in **notes/plan.md**, see \`grep\`:

1. a first point that is so long that it does not fit on one line of a terminal with eighty columns
2. a second
   - with a part

| file | lines |
|---|---:|
| notes/plan.md | 1 |

\`\`\`diff
-30,000
+40,000
\`\`\`

All of \x1b[31mthat\x1b[2J is at [the place](https://example.org).`

const pieces = (text: string): string[] => text.match(/[\s\S]{1,9}/g) ?? []

/** An own tool that prints to the screen. */
const LOUD = `export default { name: 'loud', description: 'Prints.', effect: 'read', input: { type: 'object' },
  execute: () => { console.log('printed by \\x1b[2Ja tool'); return 'done' } }`

/** Chooses the reply by the last user message. */
const SCRIPT: Script = (request) => {
  const said = userText(request)
  if (said.includes('budget')) return think('Hmm. '.repeat(50), call('read_file', { file_path: 'notes/plans.md', limit: '20' }))
  if (said.includes('write')) return call('write_file', { path: 'a.txt', content: 'one\ntwo\n' })
  if (said.includes('hang')) return say('I begin, and then', { fault: { hang: 'mid-text' } })
  if (said.includes('loud')) return call('loud')
  if (said === '') return say(resultsSay(request, 'notes/plan') ? pieces(PAGE) : 'So be it.')
  return say('Here I am.')
}

// In CI, these tests fail if tmux is missing.
describe.skipIf(!hasScreen).concurrent('in a terminal', () => {
  it('the first minutes', async ({ expect }) => {
    using here = place({ 'notes/plan.md': 'Budget: 40,000\n' })
    await using model = await scriptedModel(SCRIPT)
    await using screen = await start(here, using(model))
    await expect(stable(await screen.until('on this machine · mode'))).toMatchFileSnapshot(kept('start'))

    await screen.type('what is the budget?')
    await screen.keys('Enter')
    await screen.until(/1 call|2 requests/)
    await screen.until((text) => !text.includes('Ctrl-C stops'))
    await expect(stable(await screen.all())).toMatchFileSnapshot(kept('answer'))

    await screen.type('write it')
    await screen.keys('Enter')
    await screen.until(ASKS)
    await expect(stable(await screen.text())).toMatchFileSnapshot(kept('question'))
    await screen.type('N not there')
    await screen.keys('Enter')
    await screen.until(/denied[\s\S]*2 requests/)
    expect(here.has('a.txt')).toBe(false)

    await screen.type('write it now')
    await screen.keys('Enter')
    await screen.until(ASKS)
    // One key answers only when nobody has been typing.
    await new Promise((resolve) => setTimeout(resolve, QUIET + 100))
    await screen.type('y')
    await screen.until(/changed {2}write_file[\s\S]*2 requests/)
    expect(here.read('a.txt')).toBe('one\ntwo\n')
    await screen.type('/undo')
    await screen.keys('Enter')
    await screen.until('removed   a.txt')
    expect(here.has('a.txt')).toBe(false)

    await screen.type('write it for good')
    await screen.keys('Enter')
    await screen.until(ASKS)
    await screen.type('a')
    await screen.keys('Enter')
    await screen.until(/\[n\]othing:\n> *$/m)
    await screen.type('1')
    await screen.keys('Enter')
    await screen.until(/\[n\]othing: 1[\s\S]*2 requests/)
    await expect(stable(after(await screen.text(), 'policy'))).toMatchFileSnapshot(kept('always'))
    expect(here.read('../.config/mulligan/config.json')).toContain('"write_file"')

    await screen.type('kept')
    await screen.keys('C-l')
    await screen.until(/^\n?> kept\n {2}scripted on/)
    await screen.keys('C-u', 'BTab')
    await screen.until('mode auto-edit')
    await screen.keys('BTab', 'BTab', 'BTab')
    await screen.until('mode ask')
    await screen.type('hang')
    await screen.keys('Enter')
    await screen.until('I begin')
    await screen.type('for later')
    await screen.keys('Enter')
    await screen.until('steering for later')
    await screen.keys('C-c')
    await screen.until('Not sent: "for later"')
    await screen.keys('Up')
    await screen.until('> for later')
    await screen.keys('C-c')
    await expect(stable(after(await screen.until((text) => !text.includes('> for later')), '> hang'))).toMatchFileSnapshot(kept('stopped'))

    await screen.resize(40, 20)
    await screen.until((text) => text.split('\n').every((line) => line.length <= 40))
    await screen.type('hello')
    await screen.keys('Enter')
    await screen.until('Here I am.')
    await expect(stable(after(await screen.until((text) => !text.includes('Ctrl-C stops')), '> hello'))).toMatchFileSnapshot(kept('narrow'))

    await screen.keys('C-c')
    await screen.until('Ctrl-C again')
    await screen.keys('C-c')
    expect(await screen.ended()).toBe(0)
    expect((await screen.text()).replaceAll('\n', '')).toMatch(/To continue: mulligan chat --session \d{8}-\S+$/)
  })

  it('Escape twice offers the messages to go back to; the text of the chosen one is in the input', async () => {
    using here = place()
    await using model = await scriptedModel([say('One.'), say('Two.'), say('Three.')])
    await using screen = await start(here, using(model))
    await screen.until('on this machine · mode')
    for (const [text, answer] of [
      ['first thing', 'One.'],
      ['second thing', 'Two.'],
    ] as const) {
      await screen.type(text)
      await screen.keys('Enter')
      await screen.until((shown) => shown.includes(answer) && !shown.includes('Ctrl-C stops'))
    }
    await screen.keys('Escape')
    await screen.keys('Escape')
    await screen.until(/› 2 +second thing/)
    await screen.keys('Escape')
    await screen.until((shown) => !shown.includes('/rewind'))
    await screen.type('x')
    await screen.until(/^> x$/m)
    await screen.keys('BSpace')
    await screen.keys('Escape')
    await screen.keys('Escape')
    await screen.until(/› 2 +second thing/)
    await screen.keys('Enter', 'Enter')
    await screen.until(/Taken back 1 message[\s\S]*\n> second thing$/m)
    await screen.keys('Enter')
    await screen.until('Three.')
    expect(userText(model.requests.at(-1) as RecordedRequest)).toMatch(/I have taken our conversation back[\s\S]*second thing$/)
  })

  it('a call in full and the list of sessions cover the screen, and leave nothing behind', async () => {
    using here = place({ 'long.txt': Array.from({ length: 60 }, (_, at) => `this is line ${at + 1}\n`).join('') })
    await using model = await scriptedModel([call('read_file', { path: 'long.txt' }), say('Read.'), say('Second.'), say('Third.')])
    await using screen = await start(here, ['chat', ...using(model)], { columns: 60, rows: 20 })
    await screen.ready('What should be done?')
    await screen.type('read it')
    await screen.keys('Enter')
    await screen.until(/Read\.[\s\S]*2 requests[\s\S]*mode ask · context/)
    const before = await screen.all()
    await screen.keys('C-o')
    await screen.until(/^Call 1 of 1 · read_file long\.txt[\s\S]*lines 1–16 of/)
    await screen.keys('End')
    await screen.until('this is line 60')
    await screen.resize(50, 16)
    await screen.until((text) => text.includes('this is line 45') && text.split('\n').every((line) => line.length <= 50))
    await screen.resize(60, 20)
    await screen.keys('Escape')
    await screen.until(/Read\.[\s\S]*mode ask · context/)
    expect(await screen.all()).toBe(before)
    await screen.type('/clear')
    await screen.keys('Enter')
    await screen.until('A new session')
    await screen.type('another one')
    await screen.keys('Enter')
    await screen.until(/Second\.[\s\S]*1 request/)
    await screen.type('/resume')
    await screen.keys('Enter')
    await screen.until(/Sessions · 2[\s\S]*› .*another one/)
    await screen.type('line')
    await screen.until('No session has these words')
    await screen.keys('C-u')
    await screen.type('read')
    await screen.until(/› .*read it/)
    await screen.keys('C-r', 'C-u')
    await screen.type('The long file')
    await screen.keys('Enter')
    await screen.until('Renamed')
    await screen.keys('C-u')
    await screen.until(/The long file/)
    await screen.keys('Down', 'Enter')
    await screen.until(/> read it[\s\S]*✓ read_file long\.txt[\s\S]*Read\./)
    await screen.type('go on')
    await screen.keys('Enter')
    await screen.until('Third.')
    expect(JSON.stringify(model.requests.at(-1)?.body)).toContain('this is line 60')
    expect(await screen.all()).not.toMatch(/Sessions ·|Call 1 of/)
  })

  it('the arrows choose an answer, and Enter gives it', async () => {
    using here = place()
    await using model = await scriptedModel([call('write_file', { path: 'a.txt', content: 'one\n' }), say('Left it.')])
    await using screen = await start(here, ['chat', ...using(model)])
    await screen.ready('What should be done?')
    await screen.type('write it')
    await screen.keys('Enter')
    await screen.until(ASKS)
    await new Promise((resolve) => setTimeout(resolve, QUIET + 100))
    let shown = await screen.text()
    for (let arrow = 'Right'; !shown.includes('›[n]o, [N]o'); arrow = 'Left') {
      const before = shown
      await screen.keys(arrow)
      shown = await screen.until((text) => text !== before && text.includes('›'))
    }
    await screen.keys('Left', 'Right', 'Enter')
    await new Promise((resolve) => setTimeout(resolve, QUIET + 100))
    expect(here.has('a.txt')).toBe(false)
    await screen.keys('Enter')
    await screen.until(/denied[\s\S]*Left it\./)
    expect(here.has('a.txt')).toBe(false)
  })

  it('a resize while an answer streams leaves no copy of the live area', async ({ expect }) => {
    using here = place()
    await using model = await scriptedModel([say('I begin, and then', { fault: { hang: 'mid-text' } })])
    await using screen = await start(here, ['chat', ...using(model)], { columns: 100, rows: 30 })
    await screen.ready('What should be done?')
    // The live area is at the bottom of a full screen: tmux moves rows of a screen that is not full out of reach.
    await screen.type('/help')
    await screen.keys('Enter')
    await screen.until('//TEXT')
    await screen.type('hang')
    await screen.keys('Enter')
    await screen.until('I begin')
    const typed = 'a message that is typed meanwhile, and that is longer than a narrow terminal is wide'
    await screen.type(typed)
    await screen.until('terminal is wide')
    for (const columns of [60, 40, 90, 50]) {
      await screen.resize(columns, 30)
      // Drawn for this width.
      await screen.until((text) => text.includes(`\n${`> ${typed}`.slice(0, columns - 1).trimEnd()}\n`))
    }
    const all = await screen.all()
    expect([...all.matchAll(/Ctrl-C stops/g)].length, all).toBe(1)
    expect([...all.matchAll(/I begin/g)].length, all).toBe(1)
    expect([...all.matchAll(/a message that is/g)].length, all).toBe(1)
    expect([...all.matchAll(/^ {2}scripted on/gm)].length, all).toBe(1)
  })

  it('another day: the conversation continues; a signal stops the call, and the terminal is as it was', async ({ expect }) => {
    using here = trusted(place({ '.mulligan/tools/loud.mjs': LOUD }))
    await using model = await scriptedModel(SCRIPT)
    await here.run(['run', 'hello', ...using(model)])
    const inner = 'echo $$ > pid; exec "$0" "$@"'
    const outer = `sh -c '${inner}' "$0" "$@"; echo "exit $?"; stty -a | tr ' ;' '\\n\\n' | grep -x -e '-*icanon' -e '-*echo'; sleep 60`
    await using screen = await openScreen(
      ['/bin/sh', '-c', outer, process.execPath, BIN, 'chat', '--last', '--mode', 'auto', ...using(model)],
      {
        cwd: here.dir,
        env: environment(here),
      },
    )
    await screen.until(/> hello\n\nHere I am\.[\s\S]*mode auto/)
    await screen.type('be loud')
    await screen.keys('Enter')
    await screen.until(/> be loud\n\nprinted by a tool\n✓ loud[\s\S]*So be it\./)
    await screen.type('hang')
    await screen.keys('Enter')
    await screen.until('I begin')
    process.kill(Number(here.read('pid')), 'SIGTERM')
    expect(await screen.until(/exit \d+[\s\S]*echo/)).toMatch(
      /Cancelled\.[\s\S]*To continue: mulligan chat --session \S+\nexit 130\nicanon\necho$/,
    )
    expect((await screen.cursor()).shown).toBe(true)
  })

  it('finds the model by itself, and says so; where there is none, says what to do', async ({ expect }) => {
    using here = place()
    await using model = await scriptedModel([say('Found.')], { models: ['only-one'] })
    await using found = await start(here, [], { env: { MULLIGAN_VLLM_URL: model.url.replace(/\/v1$/, '') } })
    expect(await found.until('/help lists')).toMatch(/vllm\/only-one on this machine/)
    await using none = await start(here, [], { columns: 100 })
    expect(await none.ended()).toBe(2)
    expect(await none.text()).toMatch(/mulligan: .*no model[\s\S]*--model/i)
    await using alone = await start(here, ['chat', '--session', 'x', '--model', 'a/b'], { columns: 100 })
    expect(await alone.ended()).toBe(2)
  })
})

it('without a terminal the chat says what else there is, and mulligan alone is a run, which loads nothing of the chat', async () => {
  using here = place()
  expect(await here.run(['chat'])).toMatchObject({ code: 2, stderr: expect.stringMatching(/needs a terminal[\s\S]*mulligan "what to do"/) })
  await using model = await scriptedModel([say('From a pipe.')])
  const traced = { env: { TRACE_FILE: join(here.dir, 'trace') }, execArgv: ['--import', TRACE], bin: UNBUNDLED }
  expect(await here.run(using(model), { stdin: 'hello', ...traced })).toMatchObject({ code: 0, stdout: 'From a pipe.\n' })
  expect(here.read('trace')).not.toMatch(/node_modules\/(?:ink|react|marked|yoga-layout)\//)
  expect(here.read('trace')).toContain('/host/dist/workspace.js')
})
