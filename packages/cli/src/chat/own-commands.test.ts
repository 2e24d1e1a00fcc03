/** Commands of files in the chat: what the model could have written is not taken for the user's words. */
import { say, scriptedModel } from '@mulligan/testing'
import { expect, it } from 'vitest'
import { place, trusted } from '../../test/cli.fixture.ts'
import { talk } from './chat.fixture.ts'

it('the text of a command in .claude is untrusted, what is typed is not', async () => {
  using here = trusted(place({ '.claude/commands/web/fix.md': 'Fix $1.', '.mulligan/commands/ours.md': 'Ours.' }))
  await using model = await scriptedModel([say('Fixed.'), say('Done.'), say('Hm.')])
  await using chat = await talk(here, model)
  expect(await chat.send('/help')).toContain('/web:fix')
  expect(await chat.send('/fix 12')).toContain('> Fix 12.')
  await chat.send('/ours')
  await chat.send('and you?')
  const history = await chat.workspace.sessions.history(String(chat.chat.session()))
  expect(history.flatMap((one) => (one.role === 'user' ? [[one.text, one.untrusted === true]] : []))).toEqual([
    ['Fix 12.', true],
    ['Ours.', false],
    ['and you?', false],
  ])
})

it('given during a turn, a command waits for its end; what is none is told at once', async () => {
  using here = trusted(place({ '.mulligan/commands/fix.md': 'Fix it.' }))
  await using model = await scriptedModel([say('I begin, and then', { fault: { hang: 'mid-text' } }), say('Never.')])
  await using chat = await talk(here, model)
  chat.chat.submit('hang')
  await chat.until(({ view }) => view.said !== '')
  chat.chat.submit('/fix')
  await chat.until(({ waiting }) => waiting.queued[0] === '/fix')
  chat.chat.submit('/nothing')
  await chat.until('unknown command /nothing')
  chat.chat.interrupt()
  await chat.until(({ isWorking }) => !isWorking)
  expect(chat.text()).toContain('Not sent: "/fix"')
  expect(model.requests).toHaveLength(1)
})
