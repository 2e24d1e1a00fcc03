/** Controls of the matrix: it finds what it looks for. Also checks the canaries in text output, which has more of it than JSON. */
import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { call, calls, say, scriptedModel } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { drive, using, workspace } from './drive.ts'
import { leaks } from './leaks.ts'
import type { Row } from './row.ts'
import { keptRows, unansweredCalls } from './store.ts'

const bad = call('raise', { entry: 'bad', as: 'retry' })
const good = call('raise', { entry: 'good', as: 'retry' })
const look = call('search_notes', { query: 'plan' })

describe('the matrix notices', () => {
  const rows: readonly (readonly [string, Row, RegExp])[] = [
    [
      'a suggested call that is not issued',
      { name: '', script: [bad, look, good, say('Done.')], calls: ['raise retry validation, 3 left', 'search_notes ok', 'raise ok'] },
      /the suggested call comes next/,
    ],
    [
      'a wrong call that is never put right',
      { name: '', script: [call('open_drawer', { drawer: 'hats' }), say('No.')], calls: ['open_drawer retry not_found'] },
      /a right call follows/,
    ],
    [
      'a secret in a result',
      { name: '', script: [call('tell', {}), say('Well.')], calls: ['tell failed execution'] },
      /request 2: .*kanarie-told/,
    ],
    ['a turn that is not asked for', { name: '', script: [say('Done.'), look], calls: [] }, /was not used/],
    ['another exit code', { name: '', script: [look], flags: ['--max-requests', '1'], calls: [] }, /exit/],
  ]
  it.each(rows)('%s', async (_, row, says) => {
    await expect(drive(row, 'openai')).rejects.toThrow(says)
  })

  it.each(['call', 'event'])('a call whose result is not kept as %s', async (kind) => {
    const here = workspace()
    await using model = await scriptedModel([look, say('Done.')])
    const { flags, env } = using(model, 'openai', here.home)
    expect(await here.run(['run', 'Do it.', ...flags], { env })).toMatchObject({ code: 0 })
    const kept = keptRows(join(here.home, 'data', 'mulligan.db'))
    rmSync(dirname(here.dir), { recursive: true, force: true })
    expect(unansweredCalls(kept)).toEqual([])
    expect(unansweredCalls(Object.fromEntries(Object.entries(kept).filter(([name]) => !name.startsWith(`${kind} `))))).not.toEqual([])
  })
})

describe('in text', () => {
  async function inText(name: string, hows: readonly string[]): Promise<string[]> {
    const here = workspace()
    await using model = await scriptedModel([calls(...hows.map((how) => [name, how === '' ? {} : { how }] as const)), say('It is broken.')])
    const { flags, env } = using(model, 'openai', here.home)
    const { stdout, stderr } = await here.run(['run', 'Do it.', '--yes', ...flags], { env })
    expect([stdout, stderr]).toEqual(['It is broken.\n', expect.stringMatching(new RegExp(`✗ ${name} `))])
    const found = leaks({ stdout, stderr, ...keptRows(join(here.home, 'data', 'mulligan.db')) })
    rmSync(dirname(here.dir), { recursive: true, force: true })
    return found.map((leak) => leak.split(' ')[0] ?? '')
  }

  it('nothing of an exception gets out', async () => {
    const hows = ['error', 'rejected', 'text', 'object', 'code', 'permission', 'name', 'cause', 'callback']
    expect(await inText('crash', hows)).toEqual([])
  })

  it('but what a tool says to everybody does', async () => {
    expect(new Set(await inText('tell', ['']))).toEqual(new Set(['stderr:', 'turns', 'call', 'event']))
  })
})
