/** Rewinds and branches in a chat, with real files, commands and a real store. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { call, say, scriptedModel } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { place, trusted, using } from '../../test/cli.fixture.ts'
import { itemText, type Talk, talk } from './chat.fixture.ts'

type Reply = ReturnType<typeof say>

const edit = (from: string, to: string) => call('edit_file', { path: 'a.txt', edits: [{ old_text: from, new_text: to }] })

/** Three turns that change `a.txt` from 0 to 3, and then the rest of the script. */
async function scene(...rest: readonly Reply[]) {
  const here = trusted(place({ 'a.txt': 'v0\n' }))
  const model = await scriptedModel([...[0, 1, 2].flatMap((n) => [edit(`v${n}`, `v${n + 1}`), say(`Made ${n + 1}.`)]), ...rest])
  const chat = await talk(here, model, { yes: true })
  for (const prompt of ['first', 'second', 'third']) await chat.send(prompt)
  return {
    ...{ here, model, chat },
    text: () => readFileSync(join(here.dir, 'a.txt'), 'utf8'),
    sent: () => JSON.stringify((model.requests.at(-1)?.body as { readonly messages: unknown }).messages),
    [Symbol.asyncDispose]: async () => {
      await chat[Symbol.asyncDispose]()
      await model[Symbol.asyncDispose]()
      here[Symbol.dispose]()
    },
  }
}

/** Goes back, and says yes to what is restored. */
async function rewind({ chat }: { readonly chat: Talk }, typed: string): Promise<string> {
  const before = chat.chat.state().items.length
  chat.chat.submit(typed)
  await chat.until(({ question }) => question !== undefined)
  chat.chat.answer('y')
  await chat.until(({ isWorking }) => !isWorking)
  return chat.chat.state().items.slice(before).map(itemText).join('\n')
}

describe('/rewind', () => {
  it('shows the files that it would restore, and asks; a no changes nothing', async () => {
    const other = (number: number) => call('write_file', { path: `dir/${number}.txt`, content: 'one\ntwo\n' })
    await using set = await scene(...Array.from({ length: 11 }, (_, at) => other(at)), say('Made 11.'))
    const { chat, text } = set
    await chat.send('fourth')
    chat.chat.submit('/rewind 2')
    await chat.until(({ question }) => question?.line === '  [y]es, [n]o: ')
    expect(chat.text()).toMatch(/\? This restores 12 files, as before message 2:\n {2}restored +\+1 -1 +a\.txt\n/)
    expect(chat.text()).toMatch(/ {2}removed +\+0 -2 +dir\/8\.txt\n {2}… and 2 more$/)
    chat.chat.answer('what')
    await chat.until(({ question }) => question?.line === 'Please answer [y]es, [n]o: ')
    chat.chat.answer('n')
    expect(await chat.until(({ isWorking }) => !isWorking)).toMatch(/Nothing was taken back\.$/)
    expect([text(), await chat.send('/rewind')]).toEqual(['v3\n', expect.stringContaining('fourth')])
    chat.chat.submit('/rewind 2 files')
    await chat.until(({ question }) => question !== undefined)
    chat.chat.interrupt()
    expect(await chat.until(({ isWorking }) => !isWorking)).toMatch(/Nothing was taken back\.$/)
    expect(text()).toBe('v3\n')
  })

  it('lists the messages; takes conversation and files back, and puts the message into the input', async () => {
    await using set = await scene(say('Fourth.'))
    const { chat, text, sent } = set
    expect(await chat.send('/rewind')).toMatch(/N +WHEN +MESSAGE\n1 .*first\n2 .*second\n3 .*third\n/)
    expect(await rewind(set, '/rewind 2')).toMatch(
      /Made 1\.[\s\S]*Taken back 2 messages: the conversation and the files\. Changes of 2 turns were undone\./,
    )
    expect([text(), chat.chat.state().draft]).toEqual(['v1\n', { text: 'second' }])
    expect(await chat.send('/rewind')).not.toMatch(/second|third/)
    await chat.send('other')
    expect(sent()).toMatch(/first.*I have taken our conversation back.*other/)
    expect(sent()).not.toMatch(/second|third|still contain|have undone/)
    const { stdout } = await set.here.run(['sessions', 'show', '--last'])
    expect(stdout).toMatch(/> second[\s\S]*\*Taken out of the conversation by a rewind\.\*[\s\S]*> other/)
  })

  it('of the conversation leaves the files, of which the model is told', async () => {
    await using set = await scene(say('Fourth.'))
    const { chat, text, sent } = set
    expect(await chat.send('/rewind 3 conversation')).toContain('Taken back 1 message: the conversation; the files stay as they are.')
    expect(text()).toBe('v3\n')
    await chat.send('other')
    expect(sent()).toMatch(/second.*The files still contain changes that you made after it: a\.txt\. Read a file/)
  })

  it('of the files leaves the conversation, and the model is told of what was undone', async () => {
    await using set = await scene(say('Fourth.'))
    const { chat, text, sent } = set
    expect(await rewind(set, '/rewind 1 files')).toContain('Taken back 3 messages: the files; the conversation stays.')
    expect([text(), chat.chat.state().draft]).toEqual(['v0\n', undefined])
    await chat.send('other')
    expect(sent()).toMatch(/third.*I have undone the changes that you made in turn \S+\/1.*other/)
  })

  it('does nothing if a file was changed since, and says what can be done', async () => {
    await using set = await scene()
    const { chat, text, here } = set
    writeFileSync(join(here.dir, 'a.txt'), 'mine\n')
    expect(await chat.send('/rewind 2')).toMatch(
      /nothing was taken back, because files have changed since\n {2}a\.txt: it was changed since\n\/rewind 2 conversation/,
    )
    expect([text(), await chat.send('/rewind')]).toEqual(['mine\n', expect.stringContaining('third')])
  })

  it('says which changes of commands it can not undo', async () => {
    await using set = await scene(call('bash', { command: 'echo new > b.txt', writes: 'direct' }), say('Made.'), say('Fifth.'))
    const { chat, here, sent } = set
    await chat.send('make it')
    expect(await rewind(set, '/rewind 3')).toMatch(/Not undone, because these changes are not recorded:\n {2}bash [^"]*echo new/)
    expect([set.text(), here.has('b.txt')]).toEqual(['v2\n', true])
    await chat.send('other')
    expect(sent()).toMatch(/What else you did after it was not undone: bash [^"]*echo new/)
  })

  it.each([
    ['/rewind 9', 'there is no message 9 in this conversation'],
    ['/rewind x', '"x" is not the number of a message'],
    ['/rewind 1 all', '/rewind takes a number and one of both, conversation, files'],
    ['/branch 1', 'there is no message before message 1'],
  ])('%s: %s', async (typed, says) => {
    await using set = await scene()
    expect(await set.chat.send(typed)).toContain(says)
    expect(set.text()).toBe('v3\n')
  })
})

describe('a branch', () => {
  it('in the chat goes on in a new session with the messages before; the old one stays', async () => {
    await using set = await scene(say('Fourth.'), say('Fifth.'))
    const { chat, text, sent } = set
    const old = chat.chat.session()
    expect(await chat.send('/branch 3')).toMatch(/Made 2\.[\s\S]*A new session, \S+; the files are as they were\. \/resume \S+ goes back\./)
    expect(chat.chat.session()).not.toBe(old)
    await chat.send('other')
    expect([sent().includes('second'), sent().includes('third'), text()]).toEqual([true, false, 'v3\n'])
    await chat.send(`/resume ${old}`)
    await chat.send('on')
    expect(sent()).toMatch(/third.*on/)
  })

  it('by the command line, as JSON too', async () => {
    await using set = await scene(say('Fourth.'))
    const old = set.chat.chat.session()
    const branched = JSON.parse((await set.here.run(['sessions', 'branch', '--last', '--at', '2', '--json'])).stdout)
    expect(branched).toEqual({ session: expect.stringMatching(/^\d{8}-\d{4}-\w{6}$/), from: old })
    await set.here.run(['go on', '--session', branched.session, ...using(set.model)])
    expect(set.sent()).toMatch(/first.*go on/)
    expect(set.sent()).not.toContain('second')
    expect(await set.here.run(['sessions', 'branch', '--last', '--at', '1'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('there is no message before message 1'),
    })
  })
})
