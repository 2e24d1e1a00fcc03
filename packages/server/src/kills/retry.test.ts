/** A server that is killed during a retry, started again, and sent the same request. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore, takenBack } from '@mulligan/agent'
import { say, scriptedModel } from '@mulligan/testing'
import { expect, it } from 'vitest'
import { isAll } from '../../../../scripts/test-scope.fixture.ts'
import { killedServer } from './killed-server.fixture.ts'

const NEVER = Number.MAX_SAFE_INTEGER

it('a retry that is killed at a commit and sent again with its key begins one turn', async () => {
  await using model = await scriptedModel(() => say('Done.'))
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'mulligan-retry-')))
  const [dir, home] = ['work', 'home'].map((name) => join(root, name)) as [string, string]
  for (const folder of [dir, home]) mkdirSync(folder)
  const place = join(root, 'store.db')
  const server = killedServer({ store: place, home })
  await server.start()

  /** Retries a turn; the server dies at the N-th point. @returns the points passed */
  async function retried(killAt: number): Promise<number> {
    const id: string = (await server.api().post('/api/sessions', { cwd: dir, model: 'any', baseUrl: model.url })).body.id
    await server.api().post(`/api/sessions/${id}/turns`, { prompt: 'go' })
    await server.api().follow(id, ({ type }) => type === 'turn.ended')
    await server.arm(killAt)
    const retry = () => server.api().post(`/api/sessions/${id}/retry`, {}, { 'idempotency-key': id })
    const first = await retry().catch(() => undefined)
    const ended = () => server.api().follow(id, ({ type, turnId }) => type === 'turn.ended' && turnId === `${id}/2`)
    if (first) await ended().catch(() => undefined)
    const passed = killAt === NEVER ? await server.arm(NEVER) : 0
    // Its last point may come after the end of the turn.
    await server.kill()
    await server.start()
    expect(await retry()).toMatchObject({ status: 202, body: { turnId: `${id}/2` } })
    await ended()
    const store = await openStore(place)
    const [turns, rewinds] = [await store.turns(id), await store.rewinds(id)]
    await store.close()
    expect([killAt, turns.map(({ status }) => status), rewinds.length]).toEqual([killAt, ['answered', 'answered'], 1])
    expect(turns.map((turn) => takenBack(rewinds)(turn.id))).toEqual([true, false])
    return passed
  }

  const points = await retried(NEVER)
  expect(points).toBeGreaterThan(10)
  for (let at = points; at > 0; at -= isAll ? 1 : 7) await retried(at)
  expect(model.violations).toEqual([])
  await server.kill()
  rmSync(root, { recursive: true, force: true })
}, 120_000)
