/** An errand over notes, Google and Slack, with approvals: parked in the command, without anybody, and in the chat. */
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, expect, it } from 'vitest'
import { using } from '../../test/cli.fixture.ts'
import { DECISIONS, DONE, type Errand, errand, TASK } from '../../test/errand.fixture.ts'
import { talk } from '../chat/chat.fixture.ts'

const before = { ...process.env }
afterEach(() => {
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name]
  Object.assign(process.env, before)
})

interface Made {
  readonly tool: string
  readonly attempts: number
  readonly result: { readonly ok: boolean; readonly status?: string; readonly count?: number }
}

const outcomes = (calls: readonly Made[]): readonly string[] =>
  calls.map(({ tool, result: { ok, status, count } }) => `${tool} ${ok ? (count === 0 ? 'empty' : 'ok') : status}`)

const ON_THE_WAY = ['search_notes empty', 'search_notes ok', 'read_note ok', 'search_drive ok', 'draft_email retry']
const WHOLE = [...ON_THE_WAY, 'draft_email ok', 'post_slack_message retry', 'post_slack_message ok']

/** Every file of the data folder, by name. */
const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => statSync(join(folder, name)).isFile())

/** No file but the login's has a token, and only stores of the conversation and the index of notes have what is in a mail. */
function expectNoLeak({ here }: Errand, shown: string): void {
  expect(shown).not.toMatch(/xoxb-|ya29|refresh-|desktop/)
  for (const name of filesIn(here.data)) {
    const text = readFileSync(join(here.data, name), 'latin1')
    if (name !== 'google.json') expect([name, /xoxb-|ya29\.|1\/\/refresh-/.exec(text)?.[0]]).toEqual([name, undefined])
    if (!/\.db(?:-wal|-shm)?$|^notes\//.test(name)) expect([name, text.includes(DECISIONS)]).toEqual([name, false])
  }
}

it('the command waits at each question, and goes on in a new start', async () => {
  await using run = await errand()
  const { here, model, effects } = run
  const env = { ...run.env, MULLIGAN_MODEL: 'scripted', MULLIGAN_BASE_URL: model.url }
  const first = await here.run([TASK, '--park'], { env })
  expect([first.code, effects()]).toEqual([4, { drafts: [], posts: [], sent: 0 }])
  const asked: string[] = []
  let last = first
  while (last.code === 4 && asked.length < 9) {
    const { approvals } = JSON.parse((await here.run(['approvals', '--json'], { env })).stdout) as { approvals: { id: string }[] }
    const { stdout } = await here.run(['approvals', 'show', String(approvals[0]?.id)], { env })
    asked.push(stdout)
    last = await here.run(['approvals', 'allow', String(approvals[0]?.id), '--json'], { env })
  }
  expect(asked).toEqual([
    expect.stringMatching(/\+ To: ana@example\.com\n[\s\S]*We ship on 1 December/),
    expect.stringMatching(/post_slack_message[\s\S]*@anna/),
    expect.stringMatching(/Slack #team \(C0000001\)[\s\S]*\+ Decisions for <@U0000001>: https:/),
  ])
  expect(asked.join()).toContain('this session has read content from outside')
  const { answer, calls } = JSON.parse(last.stdout) as { answer: string; calls: readonly Made[] }
  expect([last.code, answer, outcomes(calls)]).toEqual([0, expect.stringContaining('the link is posted'), WHOLE])
  // The rate limit was waited for.
  expect(calls.at(-1)?.attempts).toBe(2)
  expect(effects()).toEqual(DONE)
  model.assertDone()
  expectNoLeak(run, `${first.stderr}${last.stderr}${last.stdout}${(await here.run(['logs', '--json'], { env })).stdout}`)
})

it('the example runs', async () => {
  const file = fileURLToPath(new URL('../../../../examples/assistant.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [file], { env: { PATH: process.env['PATH'] } })
  expect(stdout).toMatch(/^draft_email\?[\s\S]*\+To: ana@example\.com[\s\S]*post_slack_message\?[\s\S]*Done\. 1 draft, 1 post, 0 sent\n$/)
})

it('without anybody to ask, nothing leaves, --yes notwithstanding', async () => {
  await using run = await errand()
  const { here, env, model, effects } = run
  const { code, stdout } = await here.run([TASK, '--json', '--yes', ...using(model)], { env })
  const { calls } = JSON.parse(stdout) as { calls: readonly Made[] }
  expect([code, effects()]).toEqual([4, { drafts: [], posts: [], sent: 0 }])
  expect(outcomes(calls).slice(0, 6)).toEqual([...ON_THE_WAY, 'draft_email denied'])
})

it('the chat asks the question for which a command waits, and those after it', async () => {
  await using run = await errand()
  const { here, env, model, effects } = run
  const { stdout } = await here.run([TASK, '--park', '--json', ...using(model)], { env })
  const { sessionId: session } = JSON.parse(stdout) as { sessionId: string }
  Object.assign(process.env, env, { HOME: here.root })
  await using chat = await talk(here, model, { session })
  chat.chat.submit('/continue')
  for (const wanted of [/\+ To: ana@example/, /@anna/, /<@U0000001>/]) {
    await chat.until(wanted)
    await chat.until(({ question }) => question !== undefined)
    expect(effects().posts).toEqual([])
    chat.chat.answer('y')
  }
  await chat.until(/the link is posted/)
  expect(effects()).toEqual(DONE)
  expectNoLeak(run, chat.text())
})
