/** What people try first who come from other agents: it works, or a line tells what does. */
import { say, scriptedModel } from '@mulligan/testing'
import { expect, it } from 'vitest'
import { type CliFixture, place, trusted } from '../../test/cli.fixture.ts'
import { type Talk, talk } from './chat.fixture.ts'

async function chatting(
  turns: number,
  test: (chat: Talk, here: CliFixture, prompts: () => readonly string[]) => Promise<void>,
): Promise<void> {
  using here = trusted(place())
  await using model = await scriptedModel(Array.from({ length: turns }, (_, at) => say(`Answer ${at + 1}.`)))
  await using chat = await talk(here, model)
  const prompts = (): readonly string[] =>
    model.requests.map(({ body }) =>
      JSON.stringify((body as { readonly messages: readonly { readonly content: unknown }[] }).messages.at(-1)?.content),
    )
  await test(chat, here, prompts)
}

it('? shows the keys, and sends nothing', () =>
  chatting(0, async (chat, _, prompts) => {
    expect(await chat.send('?')).toMatch(/Ctrl-O[\s\S]*shows these keys/)
    expect(await chat.send('/help')).toMatch(/\/compact[\s\S]*shows these keys/)
    expect(prompts()).toEqual([])
  }))

it('exit leaves', () =>
  chatting(0, async ({ chat }) => {
    chat.submit('exit')
    expect(await chat.left).toMatchObject({ atOnce: false })
  }))

it('# lets the model write into AGENTS.md', () =>
  chatting(1, async (chat, _, prompts) => {
    expect(await chat.send('# use tabs')).toContain('> Add this to AGENTS.md, and do nothing else: use tabs')
    expect(prompts()[0]).toContain('Add this to AGENTS.md, and do nothing else: use tabs')
  }))

it('for the commands of other agents, it tells what does the same here', () =>
  chatting(0, async (chat) => {
    expect(await chat.send('/memory')).toContain('there is no command /memory here\nAGENTS.md is read in every session.')
    expect(await chat.send('/login')).toContain('mulligan doctor')
    expect(await chat.send('/constructor')).toContain('unknown command /constructor')
    expect(await chat.send('/permissions')).toContain('> ask')
  }))

it('/export writes the conversation, and does not overwrite a file unasked', () =>
  chatting(1, async (chat, here) => {
    expect(await chat.send('/export')).toContain('there is no conversation yet')
    await chat.send('hello')
    const file = `${chat.chat.session()}.md`
    for (const _ of ['first', 'again']) expect(await chat.send('/export')).toContain(file)
    expect(here.read(file)).toContain('Answer 1.')
    here.write('mine.md', 'Mine.')
    expect(await chat.send('/export mine.md')).toContain('already exists')
    expect(here.read('mine.md')).toBe('Mine.')
    await chat.send('/export mine.md --force')
    expect(here.read('mine.md')).toContain('Answer 1.')
  }))

it('typing takes back the first of two Ctrl-C', () =>
  chatting(0, async ({ chat, until }) => {
    chat.interrupt()
    await until(({ isLeavingNext }) => isLeavingNext)
    chat.stay()
    await until(({ isLeavingNext }) => !isLeavingNext)
    chat.interrupt()
    await until(({ isLeavingNext }) => isLeavingNext)
  }))
