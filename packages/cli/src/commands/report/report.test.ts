import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { call, calls, say, scriptedModel } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { type CliFixture, place, using } from '../../../test/cli.fixture.ts'

/** Runs one turn with a wrong path, an unknown tool whose name is markup, and two repairs. */
async function withTurn(): Promise<CliFixture> {
  const here = place({ 'budget.md': 'Tools: 4,500\n' })
  await using model = await scriptedModel([
    calls(['read_file', { path: 'budgets.md' }], ['<script>alert(1)</script>', {}]),
    call('read_file', '{"path": "budget.md", "limit": "50",}'),
    say('4,500, and 99 % of my calls were right.'),
  ])
  const { code, stderr } = await here.run(['How much for tools?', ...using(model)])
  expect(code, stderr).toBe(0)
  return here
}

describe('mulligan report', () => {
  it('prints the figures of the sessions in a folder', async () => {
    using here = await withTurn()
    const { code, stdout } = await here.run(['report'])
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^Reliability of sessions in /)])
    expect(stdout).toContain('33.3 % of 3 calls succeeded, 1 of them after a repair.\n1 of 1 turn answered')
    expect(stdout).toMatch(/^read_file +2 +50\.0 % +2 +1 /m)
    expect(stdout).toMatch(/^\(unknown tool\) +1 +0 % +0 +1 +- +- +-$/m)
    expect(stdout).toMatch(/^ +1 {2}wrong paths and names$/m)
    // What a model says about itself counts for nothing.
    expect(stdout).not.toContain('99 %')
  })

  it('as JSON, of one session, tool, model or period', async () => {
    using here = await withTurn()
    const read = async (...args: string[]) => JSON.parse((await here.run(['report', '--json', ...args])).stdout)
    const all = await read()
    expect(all).toMatchObject({ sessions: 1, turns: 1, total: { calls: 3 }, retries: { afterOne: 1, never: 1 } })
    expect(await read('--tool', 'read_file')).toMatchObject({ total: { calls: 2, repairs: 2 } })
    expect(await read('--model', 'other/model')).toMatchObject({ total: { calls: 0 } })
    expect(await read('--since', '1h')).toEqual(all)
    const [session] = JSON.parse((await here.run(['sessions', '--json'])).stdout).sessions
    expect(await read('--session', session.id.slice(0, 12))).toEqual(all)
    expect((await here.run(['report', '--session', 'none'])).code).toBe(2)
  })

  it('of another folder says that there are none, and --all includes it', async () => {
    using here = await withTurn()
    expect(await here.run(['report', '--cwd', here.root])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^No tool calls: /) })
    expect(JSON.parse((await here.run(['report', '--cwd', here.root, '--all', '--json'])).stdout).total.calls).toBe(3)
  })

  it('as a page that stands alone, without a script and with every text escaped', async () => {
    using here = await withTurn()
    const file = join(here.root, 'report.html')
    expect(await here.run(['report', '--html', file, '--tool', '<script>alert(1)</script>'])).toMatchObject({ code: 0, stdout: '' })
    const page = readFileSync(file, 'utf8')
    expect(page).toContain('tool &lt;script&gt;alert(1)&lt;/script&gt;')
    expect(page).not.toMatch(/<script|\son\w+=|https?:|src=|url\(/i)
    expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`)
    expect(await here.run(['report', '--html', file])).toMatchObject({ code: 2, stderr: expect.stringContaining('--force') })
    expect(await here.run(['report', '--html', file, '--force', '--json'])).toMatchObject({ code: 0 })
    expect(readFileSync(file, 'utf8')).toContain('<th scope="row">read_file</th>')
    writeFileSync(file, '')
    expect((await here.run(['report', '--html', join(file, 'x.html')])).stderr).toContain('Name another file with --html')
  })
})
