/** Tests a chat with a real workspace and a scripted model over HTTP, without a screen. */

import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { AgentEvent } from '@mulligan/agent'
import { call, type Script, say, scriptedModel, think } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { type CliFixture, place, trusted, using } from '../../test/cli.fixture.ts'
import { plain } from '../ui/colors.ts'
import { talk } from './chat.fixture.ts'
import { runInOwnShell } from './own-shell.ts'
import { NO_VIEW, step } from './view.ts'

async function scene(script: Script, files: Readonly<Record<string, string>> = {}) {
  const here = trusted(place(files))
  const model = await scriptedModel(script)
  return {
    here,
    model,
    [Symbol.asyncDispose]: async () => {
      await model[Symbol.asyncDispose]()
      here[Symbol.dispose]()
    },
  }
}

const lastPrompt = (model: { readonly requests: readonly { readonly body: unknown }[] }): string => {
  const { messages } = model.requests.at(-1)?.body as { readonly messages: readonly { readonly role: string; readonly content: unknown }[] }
  return String(messages.findLast(({ role }) => role === 'user')?.content)
}

function column({ data }: CliFixture, sql: string): readonly unknown[] {
  const store = new DatabaseSync(join(data, 'mulligan.db'))
  const rows = store.prepare(sql).all()
  store.close()
  return rows.flatMap((row) => Object.values(row))
}

const latestSession = (here: CliFixture): unknown => column(here, 'select id from sessions')[0]

/** Returns the log of all sessions. */
const stored = (here: CliFixture): string => column(here, 'select body from log').join('\n')

describe('a chat', () => {
  it('shows the thinking by its size, the answer block by block, and what it took', async () => {
    await using set = await scene([think('x'.repeat(400), say(['# Title\n\nTe', 'xt.\n']))])
    await using chat = await talk(set.here, set.model)
    expect(await chat.send('hello')).toMatch(/^> hello\nThought for about \d+ tokens\.\n# Title\n+Text\.\n+1 request · [\d,]+ tokens$/)
  })

  it('a message typed during a turn joins it after the current call, or follows it if nothing more is asked for', async () => {
    await using set = await scene([call('write_file', { path: 'a.txt', content: 'new\n' }), say('As you say.'), say('Later.')])
    await using chat = await talk(set.here, set.model)
    chat.chat.submit('write')
    await chat.until(({ question }) => question !== undefined)
    chat.chat.submit('only @notes.md')
    chat.chat.submit('//slashes')
    chat.chat.submit('/help')
    chat.chat.submit('/mode')
    chat.chat.submit('after that')
    await chat.until(({ waiting }) => waiting.steering.length === 2 && waiting.queued.length === 2)
    chat.chat.answer('y')
    expect(await chat.until(/Later\.[\s\S]*request/)).toMatch(
      /✓ write_file a\.txt[\s\S]*> only @notes\.md\n\n\/slashes\n {2}\(names notes\.md\)\nAs you say\.[\s\S]*> \/mode[\s\S]*> after that\nLater/,
    )
    expect(JSON.stringify(set.model.requests[1]?.body)).toContain('only @notes.md')
    const [shown] = [await chat.send(`/resume ${chat.chat.session()}`)]
    expect(shown).toMatch(/✓ write_file a\.txt[\s\S]*> only @notes\.md[\s\S]*As you say\./)
  })

  it('Escape takes back what waits, the last first; then it stops the turn; idle, it means nothing', async () => {
    await using set = await scene([say('I begin and', { fault: { hang: 'mid-text' } })])
    await using chat = await talk(set.here, set.model)
    expect(chat.chat.escape()).toBe(false)
    chat.chat.submit('hang')
    await chat.until(({ view }) => view.said !== '')
    chat.chat.submit('one')
    chat.chat.submit('two')
    expect(chat.chat.escape()).toBe(true)
    await chat.until(({ draft, waiting }) => draft?.text === 'two' && waiting.steering.join() === 'one')
    chat.chat.escape()
    await chat.until(({ waiting }) => waiting.steering.length === 0)
    chat.chat.escape()
    chat.chat.escape()
    expect(await chat.until(/request/)).toMatch(/Cancelled/)
    expect(chat.chat.state().isLeavingNext).toBe(false)
  })

  it('offers the sessions to continue; Escape or Ctrl-C closes the list', async () => {
    await using set = await scene([say('One.'), say('Two.')])
    await using chat = await talk(set.here, set.model)
    const listed = async (): Promise<string> => {
      chat.chat.submit('/resume')
      await chat.until(({ panel }) => panel?.lines({ columns: 80, rows: 20 }).some((line) => line.includes(' · ')) === true)
      return chat.chat.state().panel?.lines({ columns: 80, rows: 20 }).join('\n') ?? ''
    }
    expect(await listed()).toContain('There are no sessions in this folder yet')
    chat.chat.state().panel?.key({ name: 'escape' })
    await chat.until(({ panel, busy }) => !panel && !busy)
    await chat.send('first question')
    await chat.send('/clear')
    expect(await listed()).toMatch(/› .*first question/)
    chat.chat.interrupt()
    await chat.until(({ panel, busy }) => !panel && !busy)
    expect(chat.chat.session()).toBeUndefined()
    await listed()
    chat.chat.state().panel?.key({ name: 'enter' })
    expect(await chat.until(/first question[\s\S]*> first question[\s\S]*One\./)).toBeTruthy()
    await chat.until(({ busy }) => !busy)
    expect(await chat.send('and?')).toContain('Two.')
  })

  it('asks, and takes back what was changed', async () => {
    await using set = await scene([call('write_file', { path: 'a.txt', content: 'new\n' }), say('Written.')])
    await using chat = await talk(set.here, set.model)
    chat.chat.submit('write')
    await chat.until(({ question }) => question !== undefined)
    chat.chat.submit('/undo 7')
    chat.chat.submit('what is typed after a command waits')
    expect(chat.chat.state().question?.line).toContain('[y]es once')
    set.model.push(say('Second.'))
    chat.chat.answer('y')
    await chat.until(/Second\.[\s\S]*request/)
    expect(chat.text()).toMatch(
      /\? write_file \(write\) a\.txt[\s\S]*1 \+ new[\s\S]*\[n\]o and why: y\n✓ write_file a\.txt {2}\+1 -0\nWritten\.[\s\S]*changed {2}write_file a\.txt[\s\S]*> \/undo 7[\s\S]*> what is typed/,
    )
    expect(await chat.send('/diff')).toContain('+new')
    expect([await chat.send('/undo'), set.here.has('a.txt')]).toEqual([expect.stringContaining('removed   a.txt'), false])
    expect([await chat.send('/redo'), set.here.has('a.txt')]).toEqual([expect.stringContaining('created   a.txt'), true])
    expect(await chat.send('/redo')).toContain('there is nothing to redo in this session')
  })

  it('shows the output of an approved command, with the true number of the lines above it', async () => {
    const command = 'seq 100; echo new > a.txt'
    await using set = await scene([call('bash', { command }), say('Done.')])
    await using chat = await talk(set.here, set.model)
    chat.chat.submit('count')
    await chat.until(({ question }) => question !== undefined)
    chat.chat.answer('y')
    expect(await chat.until(/Done\./)).toMatch(/✓ bash [^\n]*\n… 84 earlier\n```\n85\n[\s\S]*\n100\n```\nDone\./)
  })

  it('shows the end of a failed command, and how many lines are above it', async () => {
    await using set = await scene([call('bash', { command: 'seq 50; exit 3' }), say('It failed.')])
    await using chat = await talk(set.here, set.model)
    expect(await chat.send('count')).toMatch(/✗ bash [^\n]*code 3[^\n]*\n… 34 earlier\n```\n35\n[\s\S]*\n50\n```\nIt failed\./)
  })

  it('shows that --yes answers the questions of the mode', async () => {
    await using set = await scene([call('write_file', { path: 'a.txt', content: 'new\n' }), say('Written.')])
    await using chat = await talk(set.here, set.model, { yes: true })
    expect(await chat.send('/status')).toMatch(/mode {2}ask --yes \(/)
    expect(await chat.send('/mode')).toMatch(/^> \/mode\nStarted with --yes: [^\n]*\n[\s\S]*> +ask/)
    expect(await chat.send('write')).toContain('✓ write_file a.txt')
  })

  it('shows the beginning of a long pasted message, and sends the whole', async () => {
    await using set = await scene([say('Read.')])
    await using chat = await talk(set.here, set.model)
    const pasted = Array.from({ length: 30 }, (_, at) => `row ${at}`).join('\n')
    expect(await chat.send(pasted)).toMatch(/^> row 0\n[\s\S]*row 9\n {2}\(… 20 more lines\)\nRead\./)
    expect(lastPrompt(set.model)).toBe(pasted)
  })

  it('shows what a command of the user has printed while it runs', async () => {
    await using set = await scene([])
    await using chat = await talk(set.here, set.model)
    chat.chat.submit('!echo begun; until [ -e go ]; do sleep 0.02; done; echo over')
    await chat.until(({ busy }) => busy?.printed === 'begun\n')
    writeFileSync(join(set.here.dir, 'go'), '')
    expect(await chat.until(/exit code 0/)).toMatch(/\nbegun\nover\nexit code 0/)
    expect(chat.chat.state().busy?.printed).toBeUndefined()
  })

  it('/model lists the models of the server, and switches to the chosen one; plain lines list them as text', async () => {
    await using set = await scene([say('One.')])
    await using model = await scriptedModel([say('Two.')], { models: ['scripted', 'other', 'third'] })
    await using chat = await talk(set.here, model)
    const lines = (): string => chat.chat.state().panel?.lines({ columns: 60, rows: 10 }).join('\n') ?? ''
    const open = async (): Promise<void> => {
      chat.chat.submit('/model')
      await chat.until(() => lines().includes('third'))
    }
    await open()
    expect(lines()).toMatch(/^Models · 3\n[\s\S]*› openai-compatible\/scripted +on 127\.0\.0\.1/)
    chat.chat.state().panel?.key({ name: 'escape' })
    expect(await chat.until(({ isWorking }) => !isWorking)).toMatch(/scripted on this machine, [\d,]+ tokens of context$/)
    await open()
    chat.chat.state().panel?.key({ name: 'text', text: 'OTHER' })
    expect(lines()).not.toContain('third')
    chat.chat.state().panel?.key({ name: 'enter' })
    await chat.until('From now on openai-compatible/other')
    await chat.until(({ isWorking }) => !isWorking)
    expect(await chat.send('hi')).toContain('Two.')
    expect(model.requests.at(-1)?.body).toMatchObject({ model: 'other' })
    await using lists = await talk(set.here, model, { plain: true })
    expect(await lists.send('/model')).toMatch(/openai-compatible\/other +on 127\.0\.0\.1/)
  })

  it('/status tells how the calls of the model work, and frequent repairs are told of once', async () => {
    const leaked = (path: string) => say(`<tool_call>{"name":"read_file","arguments":{"path":"${path}"}}</tool_call>`)
    const again = call('read_file', { path: 'a.txt', offset: 'x' })
    await using set = await scene([leaked('a.txt'), leaked('b.txt'), leaked('c.txt'), leaked('d.txt'), again, say('Done.')], {
      ...{ 'a.txt': 'a', 'b.txt': 'b', 'c.txt': 'c', 'd.txt': 'd' },
    })
    await using chat = await talk(set.here, set.model)
    const shown = await chat.send('read')
    expect([...shown.matchAll(/The model's calls needed a repair 3 times \(calls found in the text\)/g)]).toHaveLength(1)
    const status = await chat.send('/status')
    expect(status).toMatch(
      /calls {2}5 calls; repaired: 4 calls found in the text.*; made again: 1 validation\n {2}What would help: the server does not read/,
    )
    expect(await chat.send('/status')).toContain('5 calls')
  })

  it('a message typed right after a command waits for it', async () => {
    await using set = await scene([say('Hello.'), say('And you.')], { '.mulligan/commands/plain.md': 'Say hello.' })
    await using chat = await talk(set.here, set.model)
    chat.chat.submit('/plain')
    chat.chat.submit('and you?')
    await chat.until(/And you\./)
    expect(chat.text()).toMatch(/^[\s\S]*> \/plain\n[\s\S]*Hello\.[\s\S]*> and you\?[\s\S]*And you\./)
  })

  it('sends the text of a command of the project, with its arguments', async () => {
    const files = {
      '.mulligan/commands/fix.md':
        '---\ndescription: fix an issue\nargument-hint: "[ISSUE]"\n---\nFix issue $1 as @.env says. All: $ARGUMENTS',
      '.mulligan/commands/help.md': 'Never sent.',
      '.mulligan/commands/Bad Name.md': 'Never sent.',
      '.mulligan/commands/plain.md': 'Say hello.',
      '.env': 'KEY=hunter2',
    }
    await using set = await scene([call('read_file', { path: '.env' }), say('Fixed.'), say('Hello.')], files)
    await using chat = await talk(set.here, set.model)
    expect(await chat.send('/help')).toMatch(
      /\/fix \[ISSUE\] {2}fix an issue \(\.mulligan\/commands\/fix\.md\)[\s\S]*Left out: .*Bad Name\.md: its name must/,
    )
    chat.chat.submit('/fix 12 "now please"')
    // The file that the command's text names is not one that the user named.
    await chat.until(({ question }) => question !== undefined)
    chat.chat.answer('n')
    expect(await chat.until(/Fixed\./)).toContain('Fix issue 12 as @.env says. All: 12 "now please"')
    await chat.until(({ isWorking }) => !isWorking)
    await chat.send('/plain to Ann')
    expect(lastPrompt(set.model)).toBe('Say hello.\n\nto Ann')
    expect(await chat.send('/nothing')).toContain('unknown command /nothing')
    expect(await chat.send('/skills')).toContain('There are no skills here.')
  })

  it('/cost shows what each model of the session took', async () => {
    await using set = await scene([say('One.'), say('Two.')])
    await using other = await scriptedModel([say('Three.')], { models: ['other'] })
    await using chat = await talk(set.here, set.model)
    expect(await chat.send('/cost')).toContain('No turn of this session has ended yet.')
    await chat.send('one')
    await chat.send('two')
    expect(await chat.send('/cost')).toMatch(
      /MODEL +TURNS +REQUESTS +TOKENS IN +TOKENS OUT\nopenai-compatible\/scripted +2 +2 +[\d,]+ +[\d,]+\nNo prices are set for openai-compatible\/scripted\./,
    )
    await chat.send(`/model other ${other.url}`)
    await chat.send('three')
    expect(await chat.send('/cost')).toMatch(/scripted +2 +2 [\s\S]*other +1 +1 [\s\S]*total +3 +3 /)
  })

  it('/resume uses the model of that session, if none was named; a new session keeps it', async () => {
    await using set = await scene([say('One.'), say('Five.')])
    await using other = await scriptedModel([say('Two.'), say('Three.'), say('Four.')], { models: ['other'] })
    const ids: (string | undefined)[] = []
    for (const model of [set.model, other]) {
      await using chat = await talk(set.here, model)
      await chat.send('hello')
      ids.push(chat.chat.session())
    }
    const [first, second] = ids
    await using chat = await talk(set.here, set.model, { model: undefined, baseUrl: undefined, session: second })
    expect(await chat.send('and?')).toContain('Three.')
    await chat.send('/clear')
    await chat.send('/mode auto')
    expect(await chat.send('and?')).toContain('Four.')
    await chat.send(`/resume ${first}`)
    expect(await chat.send('and?')).toContain('Five.')
  })

  it('/cost tells the money where prices are set, with the tasks of other agents, and whose prices are not known', async () => {
    const prices = { 'openai-compatible/scripted': { prices: { input: 1000, output: 10_000, cached: 100 } } }
    const used = (input: number, output: number, cached = 0) => ({ usage: { input, output, cached } })
    await using set = await scene([
      call('task', { agent: 'explore', prompt: 'Look' }, used(1000, 100)),
      say('Seen.', used(2000, 200)),
      say('Done.', used(3000, 300, 1000)),
    ])
    writeFileSync(join(set.here.dir, 'mulligan.json'), JSON.stringify({ models: { '*': { prices: { input: 0, output: 0 } } } }))
    set.here.write('../.config/mulligan/config.json', JSON.stringify({ models: prices }))
    process.env['HOME'] = set.here.root
    await using chat = await talk(set.here, set.model, { yes: true })
    await chat.send('look')
    // 3,000 of 4,000 at 1, 1,000 at 0.1, 400 out at 10 a thousand; and the task: 2,000 and 200.
    expect(await chat.send('/cost')).toMatch(
      /MODEL +TURNS +REQUESTS +TOKENS IN +OF THEM CACHED +TOKENS OUT +COST\nopenai-compatible\/scripted +1 +3 +6,000 +1,000 +600 +11\.10$/,
    )
    await using other = await scriptedModel([say('Three.')], { models: ['other'] })
    await chat.send(`/model other ${other.url}`)
    await chat.send('three')
    expect(await chat.send('/usage')).toMatch(
      /other .* not known\ntotal +2 +4 .* 11\.10\nNo prices are set for openai-compatible\/other\. In the configuration, .*"prices"/,
    )
  })

  it('keeps the task list of the model in sight, also after the session is resumed, until it is done', async () => {
    const items = (first: string) => ({ items: [{ text: 'Look', status: first }, { text: 'Write' }] })
    const done = { items: [{ text: 'Look', status: 'completed' }] }
    await using set = await scene([call('todo', items('in_progress')), say('Begun.'), say('2.'), say('3.'), say('4.'), say('5.')])
    await using chat = await talk(set.here, set.model)
    const texts = () => chat.chat.state().view.todos.map(({ text, status }) => `${text} ${status}`)
    await chat.send('plan')
    expect(texts()).toEqual(['Look in_progress', 'Write pending'])
    for (const turn of ['two', 'three', 'four', 'five']) await chat.send(turn)
    const id = chat.chat.session()
    expect(await chat.send('/todo')).toMatch(/\[>\] Look\n {2}\[ \] Write/)
    await chat.send('/clear')
    expect([texts(), await chat.send('/todo')]).toEqual([[], expect.stringContaining('no task list')])
    await chat.send(`/resume ${id}`)
    expect(texts()).toEqual(['Look in_progress', 'Write pending'])
    set.model.push(call('todo', done), say('Done.'), say('More.'))
    await chat.send('finish')
    expect(texts()).toEqual(['Look completed'])
    await chat.send('and?')
    expect(texts()).toEqual([])
  })

  it('/init lets the model write an AGENTS.md', async () => {
    await using set = await scene([call('write_file', { path: 'AGENTS.md', content: '# Here\n' }), say('Written.')])
    await using chat = await talk(set.here, set.model, { yes: true })
    expect(await chat.send('/init')).toContain('✓ write_file AGENTS.md')
    expect(JSON.stringify(set.model.requests[0]?.body)).toContain('Write the file AGENTS.md for this project')
  })

  it('changes to the next mode, and from the last one to the first', async () => {
    await using set = await scene([])
    await using chat = await talk(set.here, set.model)
    const mode = () => chat.chat.state().choice.settings.approval.mode.value
    expect(mode()).toBe('ask')
    chat.chat.cycleMode()
    chat.chat.cycleMode()
    await chat.until(({ choice }) => choice.settings.approval.mode.value === 'auto')
    chat.chat.cycleMode()
    await chat.until(({ choice }) => choice.settings.approval.mode.value === 'read-only')
    expect(await chat.send('/status')).toMatch(/mode {2}read-only/)
  })

  it('shows what progress_update says', async () => {
    await using set = await scene([call('progress_update', { message: 'Read 3 of 9 files', pct: 33, stage: 'reading' }), say('On it.')])
    await using chat = await talk(set.here, set.model)
    expect(await chat.send('go')).toContain('progress_update reading: Read 3 of 9 files (33 %)')
  })

  it('names changes to ignored files once, and /keep brings them in', async () => {
    await using set = await scene([say('One.'), say('Two.'), say('Three.')])
    let paths: readonly string[] = ['dist']
    const keep = async () => paths.map((path) => `Kept: ${path}.`)
    await using chat = await talk(set.here, set.model, { ignored: { changed: async () => paths, keep } })
    expect(await chat.send('build')).toContain('Not in the workspace: dist (git ignores it). /keep brings it in.')
    expect(await chat.send('again')).not.toContain('Not in the workspace')
    expect(await chat.send('/keep')).toContain('Kept: dist.')
    paths = []
    expect(await chat.send('once more')).not.toContain('Not in the workspace')
    expect(await chat.send('/keep')).toContain('there is nothing to keep')
    expect(await chat.send('/help')).toMatch(/\/keep {2}copy ignored files that commands changed/)
  })

  it('passes on a no with its reason', async () => {
    await using set = await scene([call('write_file', { path: 'a.txt', content: 'new\n' }), say('I leave it.')])
    await using chat = await talk(set.here, set.model)
    chat.chat.submit('write')
    await chat.until(({ question }) => question !== undefined)
    chat.chat.answer('n not that file')
    expect(await chat.until(/request/)).toContain('✗ write_file a.txt  denied permission: The user said no. Reason: not that file')
    expect(set.here.has('a.txt')).toBe(false)
  })

  it('Ctrl-C stops the turn in its stream, at a question and in a call, drops what waits, and the session continues', async () => {
    await using set = await scene([say('I begin and', { fault: { hang: 'mid-text' } })])
    await using chat = await talk(set.here, set.model, { mode: 'auto' })
    chat.chat.submit('hang')
    await chat.until(({ view }) => view.said !== '')
    chat.chat.submit('this waits')
    chat.chat.interrupt()
    expect(await chat.until(/Not sent/)).toMatch(/Cancelled\. Your next message continues from here\.[\s\S]*Not sent: "this waits"/)
    const session = chat.chat.state()
    set.model.push(call('write_file', { path: 'x', content: '' }))
    await chat.send('/mode ask')
    chat.chat.submit('again')
    await chat.until(({ question }) => question !== undefined)
    chat.chat.interrupt()
    await chat.until(({ busy, question }) => busy === undefined && question === undefined)
    set.model.push(say('Here I am.'))
    expect(await chat.send('and now')).toContain('Here I am.')
    expect(session.busy === undefined || session.isStopping).toBe(true)
  })

  it('Ctrl-C in a call that has an effect says that nobody knows', async () => {
    const slow = `export default { name: 'slow', description: 'Waits.', effect: 'write', input: { type: 'object' },
      execute: (_, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))) }`
    await using set = await scene([call('slow')], { '.mulligan/tools/slow.mjs': slow })
    await using chat = await talk(set.here, set.model, { yes: true })
    chat.chat.submit('slowly')
    await chat.until(({ view }) => view.calls.some(({ startedAt }) => startedAt !== undefined))
    chat.chat.interrupt()
    expect(await chat.until(/request/)).toMatch(/\? slow \{\} {2}indeterminate[\s\S]*unknown {2}slow[\s\S]*Cancelled\./)
  })

  it('compacts what was said when it is asked to', async () => {
    const names = ['1.txt', '2.txt', '3.txt', '4.txt', '5.txt', '6.txt']
    const reads = names.map((path) => call('read_file', { path }))
    const long = Object.fromEntries(names.map((name) => [name, 'some words\n'.repeat(1500)]))
    await using set = await scene([...reads, say('Read.'), say('Yes.'), say('Still.')], long)
    await using chat = await talk(set.here, set.model)
    await chat.send('read')
    await chat.send('really?')
    expect(await chat.send('/compact')).toMatch(/^> \/compact\nContext compacted: from about /)
    expect(await chat.send('and now?')).toContain('Still.')
  })

  it('two times Ctrl-C with nothing running leaves; during a turn without waiting for it', async () => {
    await using set = await scene([say('x', { fault: { hang: true } })])
    await using chat = await talk(set.here, set.model)
    chat.chat.interrupt()
    await chat.until(({ isLeavingNext }) => isLeavingNext)
    chat.chat.submit('hang')
    await chat.until(({ view }) => view.doing !== undefined)
    chat.chat.interrupt()
    chat.chat.interrupt()
    expect(await chat.chat.left).toMatchObject({ atOnce: true })
  })

  it('an own command is run outside, and the model reads of it with the next message', async () => {
    await using set = await scene([say('It says hi.')])
    await using chat = await talk(set.here, set.model)
    expect(await chat.send('!echo hi; exit 2')).toMatch(/^> !echo hi; exit 2\nhi\nexit code 2 · the model sees this/)
    expect(await chat.send('What is @notes.md?')).toMatch(
      /^> What is @notes\.md\?\n {2}\(with the output of echo hi; exit 2\)\n {2}\(names notes\.md\)\nIt says hi\./,
    )
    expect(lastPrompt(set.model)).toContain(
      'I ran this in my own shell: echo hi; exit 2\n```text\nhi\n```\n(exit code 2)\n\nWhat is @notes.md?',
    )
  })

  it('an own command that will not end is killed when the person leaves at once', async () => {
    using here = place()
    const others = process.listeners('exit')
    const stop = new AbortController()
    const ran = runInOwnShell("trap '' TERM; sleep 60; sleep 60", here.dir, stop.signal)
    stop.abort()
    const added = process.listeners('exit').filter((one) => !others.includes(one))
    for (const leave of added) leave(0)
    const before = Date.now()
    expect(await ran).toMatchObject({ ended: 'stopped' })
    expect([added.length, Date.now() - before < 1500]).toEqual([1, true])
    expect(process.listeners('exit')).toEqual(others)
  })

  it('/undo overwrites what others changed only when it is forced to', async () => {
    await using set = await scene([call('write_file', { path: 'a.txt', content: 'new\n' }), say('Written.')])
    await using chat = await talk(set.here, set.model, { mode: 'auto-edit' })
    await chat.send('write')
    set.here.write('a.txt', 'theirs\n')
    expect([await chat.send('/undo'), set.here.read('a.txt')]).toEqual([expect.stringContaining('--force does it'), 'theirs\n'])
    expect([await chat.send('/undo --force'), set.here.has('a.txt')]).toEqual([expect.stringContaining('removed   a.txt'), false])
  })

  it('a context that was found to be smaller is told as it is', () => {
    const at = { sessionId: 's', turnId: 's/1', at: 0, id: 1 }
    const sizes = { before: 6000, after: 3000, calls: 2, contextTokens: 4096 }
    const compacted = { ...at, type: 'context.compacted', step: 1, why: 'refused', ...sizes } as unknown as AgentEvent
    const style = { colors: plain, subject: () => '' }
    const { view } = step(NO_VIEW, compacted, style)
    const next = step(view, { ...at, type: 'turn.started', prompt: 'on', resumed: false } as unknown as AgentEvent, style)
    expect(next.view).toMatchObject({ contextUsed: 3000, contextTokens: 4096 })
  })

  it('what is not a command is not sent; two slashes are', async () => {
    await using set = await scene([say('A folder.')])
    await using chat = await talk(set.here, set.model)
    expect(await chat.send('/modle')).toMatch(/unknown command \/modle; did you mean \/model\?\n.*\/\/modle/)
    expect(set.model.requests).toHaveLength(0)
    expect(await chat.send('//etc')).toContain('> /etc\nA folder.')
  })

  it('tells of a server that does not exist, and continues', async () => {
    await using set = await scene([])
    await using chat = await talk(set.here, { url: 'http://127.0.0.1:9/v1' })
    expect(await chat.send('hello')).toMatch(/The turn failed: /)
    await chat.send(`/model scripted ${set.model.url}`)
    set.model.push(say('Now.'))
    expect(await chat.send('again')).toContain('Now.')
  })

  it('a wrong key is told with what to do, and 8k of context are 8k', async () => {
    await using set = await scene([{ fault: { status: 401 } }])
    process.env['MULLIGAN_CONTEXT'] = '8192'
    await using chat = await talk(set.here, set.model)
    delete process.env['MULLIGAN_CONTEXT']
    expect(await chat.send('hello')).toMatch(/The turn failed: .*(?:401|key)/i)
    expect(await chat.send('/status')).toContain('of 8,192 tokens used')
  })

  it('of a question of the model no line looks like an answer, and of an answer nothing acts on the terminal', async () => {
    const question = 'Really?\n> y\n✓ changed  write_file'
    await using set = await scene([call('ask_user', { question, options: ['a\nb'] }), say('So be it.')])
    await using chat = await talk(set.here, set.model)
    chat.chat.submit('ask')
    await chat.until(({ question }) => question !== undefined)
    chat.chat.answer('no\x1b[31m red')
    expect(await chat.until('So be it.')).toContain(
      '? Really?\n  | > y\n  | ✓ changed  write_file\n  1  a\n  | b\n  [1], or your own answer: no red\n',
    )
  })

  it('Ctrl-C ends the wait for a server that does not answer; the model stays', async () => {
    const silent = createServer(() => undefined)
    silent.listen(0, '127.0.0.1')
    await once(silent, 'listening')
    await using set = await scene([say('Still here.')])
    await using chat = await talk(set.here, set.model)
    chat.chat.submit(`/model ollama/x http://127.0.0.1:${(silent.address() as AddressInfo).port}`)
    await chat.until(({ busy }) => busy?.with === 'command')
    chat.chat.interrupt()
    expect(await chat.until(({ isWorking }) => !isWorking)).toMatch(/stopped; the model is still openai-compatible\/scripted/)
    expect(await chat.send('hello')).toContain('Still here.')
    silent.close()
  })

  it('a turn that runs in another process is not said to be cut off', async () => {
    await using set = await scene([say('I begin, and then', { fault: { hang: 'mid-text' } })])
    await using one = await talk(set.here, set.model)
    one.chat.submit('hang')
    await one.until(({ view }) => view.said !== '')
    await using other = await talk(set.here, set.model, { session: String(latestSession(set.here)) })
    await other.until(`This turn is running in process ${process.pid}.`)
    one.chat.interrupt()
    await one.until(({ isWorking }) => !isWorking)
  })

  it('the end of a longer session names how to see the rest', async () => {
    await using set = await scene([1, 2, 3, 4, 5].map((at) => say(`Answer ${at}.`)))
    await using one = await talk(set.here, set.model)
    for (const at of [1, 2, 3, 4, 5]) await one.send(`question ${at}`)
    const id = one.chat.session()
    await using chat = await talk(set.here, set.model, { session: id })
    expect(await chat.until('Answer 5.')).toMatch(
      new RegExp(`… 2 earlier messages: /export writes all of it to a file, mulligan sessions show ${id} prints it\\n> question 3`),
    )
  })

  it('asks again for what is no answer, and not for what is allowed for the session', async () => {
    const write = (path: string) => call('write_file', { path, content: '' })
    await using set = await scene([write('a'), write('b'), say('Both.')])
    await using chat = await talk(set.here, set.model)
    chat.chat.submit('write')
    await chat.until(({ question }) => question !== undefined)
    chat.chat.answer('maybe')
    await chat.until(({ question }) => question?.line.startsWith('Please answer [y]es once') === true)
    chat.chat.answer('s')
    await chat.until(/Both\.[\s\S]*request/)
    expect([set.here.has('a'), set.here.has('b')]).toEqual([true, true])
  })

  it('another process shows the end of the session, and continues it', async () => {
    await using set = await scene([say('One.'), call('list_dir', {}), say('Two **bold**.')], { 'a.txt': '' })
    let id: string | undefined
    let before: string
    {
      await using chat = await talk(set.here, set.model)
      before = `${await chat.send('first')}\n${await chat.send('the other')}`
      chat.chat.leave()
      id = (await chat.chat.left).session
    }
    await using chat = await talk(set.here, set.model, { session: id as string })
    expect((await chat.until('Two')).replace('Welcome\n', '')).toBe(before)
    expect(await chat.send('/status')).toContain(id)
    set.model.push(say('Three.'))
    await chat.send('third')
    expect(JSON.stringify(set.model.requests.at(-1)?.body)).toContain('the other')
    await chat.send('/clear')
    set.model.push(say('New.'))
    await chat.send('fourth')
    expect(JSON.stringify(set.model.requests.at(-1)?.body)).not.toContain('the other')
    expect(await chat.send(`/resume ${id}`)).toContain('Three.')
    expect(await chat.send('/continue')).toContain('no turn of this session was interrupted')
  })

  it('a turn whose process was killed is named, and taken up', async () => {
    await using set = await scene([call('list_dir', {}), say('x', { fault: { hang: true } }), say('Here is the rest.')], { 'a.txt': '' })
    const { child, ended } = set.here.start(['run', 'look', ...using(set.model)])
    await set.model.arrived(2)
    // What a read returned is stored with the next turn of the event loop, which the request may precede.
    while (!stored(set.here).includes('tool.result')) await new Promise((resolve) => setTimeout(resolve, 20))
    child.kill('SIGKILL')
    await ended
    await using chat = await talk(set.here, set.model, { session: String(latestSession(set.here)) })
    expect(await chat.until('/continue')).toMatch(/> look\n✓ list_dir[\s\S]*This turn was interrupted/)
    expect(await chat.send('/continue')).toMatch(/Continuing the interrupted turn\.\nHere is the rest\./)
  })

  it('every command that takes nothing can be given without anything', async () => {
    await using set = await scene([])
    await using chat = await talk(set.here, set.model)
    for (const [typed, says] of [
      ['/help', /\/undo \[TURN\] +undo the changes/],
      ['/tools', /write_file +write +open/],
      ['/agent', /> {2}build/],
      ['/agent plan', /> {2}plan/],
      ['/tools', /write_file +write +not for agent plan/],
      ['/mode', /> ask/],
      ['/mode read-only', /> read-only {2}reads/],
      ['/mode often', /there is no mode "often"/],
      ['/status', /mode +read-only \(--mode\)/],
      ['/compact', /nothing to compact/],
      ['/undo', /nothing to undo/],
    ] as const)
      expect(await chat.send(typed), typed).toMatch(says)
  })

  it('no escape sequence of a model, a tool or a file is shown', async () => {
    const evil = '\x1b[31mred\x1b]0;title\x07\x9b2J'
    await using set = await scene(
      [
        think(evil, call('read_file', { path: evil })),
        call('read_file', { path: 'evil.txt' }),
        say(['A \x1b', '[31mred \x1b]8;;https://evil', '.example\x07link\x1b]8;;\x07\n\nEnd ', evil]),
      ],
      { 'evil.txt': evil },
    )
    await using chat = await talk(set.here, set.model)
    expect(await chat.send(`evil ${evil}`)).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/)
    expect(chat.text()).toContain('A red link')
  })
})
