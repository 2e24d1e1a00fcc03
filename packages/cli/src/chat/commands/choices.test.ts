import { chooseModel } from '@mulligan/host/parts'
import { expect, it } from 'vitest'
import { model } from './choices.ts'
import type { ChatControl } from './control.ts'

it('a model that nobody is named for is told in the words of the chat, without flags', async () => {
  const chat = {
    choice: () => ({ flags: {} }),
    change: async ({ model, baseUrl }: { model?: string; baseUrl?: string }) => void chooseModel(model, baseUrl),
  } as unknown as ChatControl
  await expect(model.run('often', chat)).rejects.toMatchObject({
    message: '/model often does not name a provider',
    hint: expect.stringMatching(/^Write \/model PROVIDER\/NAME(?!.*--)/),
  })
})
