/** Images of `mulligan chat --image` go with the next message, once. */
import type { RecordedRequest } from '@mulligan/testing'
import { say, scriptedModel } from '@mulligan/testing'
import { expect, it } from 'vitest'
import { place, trusted } from '../../test/cli.fixture.ts'
import { talk } from './chat.fixture.ts'

const SHOT = { name: 'shot.png', mediaType: 'image/png', data: 'iVBORw0KGgo=' }

const imagesIn = ({ body }: RecordedRequest): readonly number[] =>
  (body as { readonly messages: readonly { readonly role: string; readonly content: unknown }[] }).messages
    .filter(({ role }) => role === 'user')
    .map(({ content }) => JSON.stringify(content).split('data:image/png').length - 1)

it('goes with the next message, and stays with that one', async () => {
  using here = trusted(place())
  await using model = await scriptedModel([say('A pixel.'), say('Yes.')])
  await using chat = await talk(here, model, { attached: [SHOT] })
  expect(await chat.send('What is it?')).toContain('> What is it?\n  (with shot.png (PNG, 1 KB))')
  expect(await chat.send('Sure?')).toContain('> Sure?\nYes.')
  expect(model.requests.map(imagesIn)).toEqual([[1], [1, 0]])
})
