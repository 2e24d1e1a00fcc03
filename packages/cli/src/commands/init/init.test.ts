/** `mulligan init`, by flags and by questions. */
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { scriptedModel, strictSlack } from '@mulligan/testing'
import { expect, it } from 'vitest'
import { place } from '../../../test/cli.fixture.ts'
import { hasTerminal, typeInTerminal } from '../../../test/terminal.fixture.ts'

const configOf = (root: string): unknown => JSON.parse(readFileSync(join(root, '.config/mulligan/config.json'), 'utf8'))

it('applies flags without questions, and checks what is set up', async () => {
  using here = place()
  await using model = await scriptedModel([])
  await using slack = await strictSlack({ token: 'xoxb-kanarie' })
  mkdirSync(join(here.root, 'Notes'))
  const env = { SLACK_BOT_TOKEN: 'xoxb-kanarie', SLACK_API_URL: slack.api }
  const args = ['init', '--model', 'scripted', '--base-url', model.url, '--notes', '~/Notes']
  const { code, stdout } = await here.run([...args, '--json'], { env })
  expect([code, JSON.parse(stdout)]).toMatchObject([
    0,
    {
      ready: true,
      written: { model: 'scripted', baseUrl: model.url, 'notes.vault': '~/Notes' },
      checks: [
        { name: 'model', state: 'ok' },
        { name: 'notes', state: 'ok', says: '~/Notes, empty' },
        { name: 'slack', state: 'ok', says: '@mulligan in Test' },
        { name: 'google', state: 'unused', remedy: 'mulligan auth google' },
        { name: 'mail', state: 'unused', remedy: 'mulligan auth mail' },
      ],
    },
  ])
  expect(configOf(here.root)).toMatchObject({ model: 'scripted', baseUrl: model.url, notes: { vault: '~/Notes' } })
  expect(stdout).not.toContain('kanarie')
})

it('a service that is set up and cannot be used is reported with the command for it', async () => {
  using here = place()
  await using slack = await strictSlack({ token: 'xoxb-other' })
  const { code, stdout } = await here.run(['init', '--no-ask'], { env: { SLACK_BOT_TOKEN: 'xoxb-old', SLACK_API_URL: slack.api } })
  expect(code).toBe(1)
  expect(stdout).toMatch(/! slack +Slack does not accept the token \(invalid_auth\)\. Set SLACK_BOT_TOKEN/)
  expect(stdout).toMatch(/- notes +not set up\n +mulligan config set notes\.vault/)
})

it.each<[readonly string[], RegExp]>([
  [['--notes', 'nowhere'], /nowhere is not a folder/],
  [['--google', 'none.json'], /none\.json can't be read/],
])('%j is refused', async (flags, says) => {
  using here = place()
  const { code, stderr } = await here.run(['init', ...flags])
  expect([code, stderr]).toEqual([2, expect.stringMatching(says)])
})

it.skipIf(!hasTerminal)('asks in a terminal; each question can be skipped', async () => {
  using here = place()
  mkdirSync(join(here.root, 'Documents/Vault/.obsidian'), { recursive: true })
  const { code, stdout } = await typeInTerminal(
    here,
    ['init'],
    [
      ['A model as PROVIDER/NAME', 'anthropic/NAME\r'],
      ['(y: this one)', 'y\r'],
      ['OAuth client', '?\r'],
      ['your address', '\r'],
      ['Slack: y', 'y\r'],
    ],
  )
  expect(stdout).toMatch(/there is no OAuth client[\s\S]*console\.cloud\.google\.com[\s\S]*api\.slack\.com\/apps/)
  expect(configOf(here.root)).toMatchObject({ model: 'anthropic/NAME', notes: { vault: join(here.root, 'Documents/Vault') } })
  expect(code).toBe(1)
})
