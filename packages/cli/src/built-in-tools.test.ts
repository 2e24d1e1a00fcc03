/** Checks that every family of tools is available in a run, with what it needs. */
import { call, lastToolResults, say, scriptedModel } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { place, using } from '../test/cli.fixture.ts'

describe('a run', () => {
  it('keeps the task list of a session for the next process', async () => {
    using here = place()
    await using model = await scriptedModel([
      call('todo', { items: [{ text: 'Find the fault', status: 'in_progress' }] }),
      say('Noted.'),
      call('todo', {}),
      say('Still there.'),
    ])
    await here.run(['Note it.', ...using(model)])
    await here.run(['run', '--last', 'What is open?', ...using(model)])
    expect(lastToolResults(model.requests[3] as never)[0]?.text).toContain('Find the fault')
  })

  it('answers a question that nobody is there for', async () => {
    using here = place()
    await using model = await scriptedModel([call('ask_user', { question: 'Which one?' }), say('I took the first.')])
    const { stdout } = await here.run(['Choose.', '--json', ...using(model)])
    expect(JSON.parse(stdout)).toMatchObject({ answer: 'I took the first.', calls: [{ tool: 'ask_user', result: { ok: false } }] })
  })

  it('runs the checks of the configuration after a change, and tells what they find', async () => {
    const check =
      "const { readFileSync } = require('node:fs'); if (readFileSync('b.txt', 'utf8').includes('bad')) { console.log('b.txt:1:1: error: bad word'); process.exit(1) }"
    using here = place({
      'check.cjs': check,
      'b.txt': 'good\n',
      'mulligan.json': JSON.stringify({
        diagnostics: [{ include: '*.txt', command: [process.execPath, 'check.cjs'], timeout: 20 }],
      }),
    })
    // The project's checks only run if the user trusts the folder.
    expect((await here.run(['trust', '--yes'])).code).toBe(0)
    await using model = await scriptedModel([
      call('edit_file', { path: 'b.txt', edits: [{ old_text: 'good', new_text: 'bad' }] }),
      say('Done.'),
    ])
    await here.run(['Do it.', '--yes', ...using(model)])
    expect(lastToolResults(model.requests[1] as never)[0]?.text).toContain('bad word')
  })

  it("a project's checks come after the person's own, and replace none", async () => {
    const check = (word: string) => ({ include: '*.txt', command: [process.execPath, 'check.cjs', word] })
    using here = place({
      'check.cjs': '',
      'mulligan.json': JSON.stringify({ diagnostics: [check('project')] }),
      '../.config/mulligan/config.json': JSON.stringify({ diagnostics: [check('person')] }),
    })
    expect((await here.run(['trust', '--yes'])).code).toBe(0)
    await using model = await scriptedModel([call('edit_file', { path: 'b.txt', edits: [{ old_text: '', new_text: 'b' }] }), say('Done.')])
    await here.run(['Do it.', '--yes', ...using(model)])
    expect(lastToolResults(model.requests[1] as never)[0]?.text).toContain('Checked with node check.cjs person, node check.cjs project:')
    const { settings } = JSON.parse((await here.run(['config', '--json'])).stdout) as { settings: { key: string; from: string }[] }
    expect(settings.flatMap(({ key, from }) => (key === 'diagnostics' ? [from] : []))).toEqual([
      '~/.config/mulligan/config.json',
      'mulligan.json',
    ])
  })
})

describe('web.search', () => {
  const own = (provider: string) => ({ '../.config/mulligan/config.json': JSON.stringify({ web: { search: { provider } } }) })

  it.each([
    ['brave', 'BRAVE_API_KEY'],
    ['tavily', 'TAVILY_API_KEY'],
    ['searxng', 'SEARXNG_URL'],
  ])('%s without %s is told before anything is sent', async (provider, variable) => {
    using here = place(own(provider))
    const { code, stderr } = await here.run(['tools', 'list'])
    expect([code, stderr]).toEqual([2, expect.stringContaining(`web.search names ${provider}, and ${variable} is not set`)])
    expect((await here.run(['tools', 'list'], { env: { [variable]: 'http://127.0.0.1:9' } })).code).toBe(0)
  })
})
