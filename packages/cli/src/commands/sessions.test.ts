import { say, scriptedModel } from '@mulligan/testing'
import { expect, it } from 'vitest'
import { place, using } from '../fixtures/cli.ts'

it('the sessions of a folder, the latest first', async () => {
  using here = place({ 'sub/a.txt': '' })
  expect(await here.run(['sessions'])).toMatchObject({ code: 0, stdout: 'There is no session in this folder yet.\n' })
  await using model = await scriptedModel([0, 1, 2].map(() => say('Hi.')))
  await here.run(['First.', '-y', ...using(model)])
  await here.run(['run', 'More.', '--last', ...using(model)])
  await here.run(['Elsewhere.', '--cwd', 'sub', ...using(model)])
  const { stdout } = await here.run(['sessions'])
  expect(stdout).toMatch(/^SESSION +WHEN +TURNS +PROMPT\n\S+ +\d{4}-\d\d-\d\d \d\d:\d\d +2 +First\.\n$/)
  const { sessions } = JSON.parse((await here.run(['sessions', '--json', '--cwd', 'sub'])).stdout)
  expect(sessions).toEqual([{ id: expect.any(String), at: expect.any(Number), turns: 1, prompt: 'Elsewhere.' }])
})
