/** A process whose session was taken over writes nothing and does nothing more. The controls remove the fence. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineTool, ok, TransientError } from '@mulligan/core'
import { call, calls, say, scriptedModel } from '@mulligan/testing'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { agentModel } from '../agent.fixture.ts'
import { createAgent, openStore, SessionBusy, SessionTakenOver, type TurnOutcome } from '../index.ts'
import { DIALECTS, openOn, stopPostgres } from './dialects.fixture.ts'

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mulligan-fence-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))
afterAll(stopPostgres)

const turn = (n: number) =>
  [
    { id: `s/${n}`, sessionId: 's', prompt: 'go', model: 'p/m' },
    { role: 'user', id: `s/${n}/0`, turnId: `s/${n}`, text: 'go' },
  ] as const
const event = (id: number, text: string) => ({ id, sessionId: 's', turnId: 's/1', at: 0, type: 'warning', message: text }) as const

describe.each(DIALECTS)('in $name', ({ name, place, change: changeAt }) => {
  beforeEach(async () => {
    path = await place(folder)
  })
  const change = (sql: string): Promise<void> => changeAt(path, sql)

  describe('the store', () => {
    it('keeps a session with a process that runs, however late it renews, until another takes it over', async () => {
      const [first, second] = [await openStore(path), await openStore(path)]
      await first.createSession({ id: 's', cwd: '/w', title: 'go' })
      expect(await first.claim('s')).toHaveProperty('release')
      await first.session('s')
      await change('UPDATE sessions SET lease_until = 0')
      expect(await second.claim('s')).toHaveProperty('busy')
      expect(await second.claim('s', { takeOver: true })).toHaveProperty('release')
      await Promise.all([first.close(), second.close()])
    })

    it.each([true, false])('refuses writes of an earlier claim: %s', async (fenced) => {
      const [first, second] = [await openStore(path), await openStore(path)]
      for (const id of ['s', 'other']) await first.createSession({ id, cwd: '/w', title: 'go' })
      for (const id of ['s', 'other']) await first.claim(id)
      await first.startTurn(...turn(1))
      await second.claim('s', { takeOver: true })
      await second.append([event(1, 'of the second')], true)
      if (!fenced) await change('UPDATE sessions SET fence = 1')

      const late = first.append([event(2, 'of the first'), { ...event(1, 'of the other'), sessionId: 'other', turnId: 'other/1' }], true)
      if (fenced) await expect(late).rejects.toThrow(SessionTakenOver)
      else await late
      // A single row takes another path.
      const alone = first.append([event(3, 'alone')], true)
      if (fenced) await expect(alone).rejects.toThrow(SessionTakenOver)
      else await alone
      expect((await second.events({ sessionId: 's' })).map((one) => 'message' in one && one.message)).toEqual(
        fenced ? ['of the second'] : ['of the second', 'of the first', 'alone'],
      )
      // Another session of the same process is not affected.
      expect(await second.events({ sessionId: 'other' })).toHaveLength(1)
      await Promise.all([first.close(), second.close()])
    })
  })

  describe('a turn', () => {
    /** Runs a turn that is taken over while it reads, by one that runs the effect the model asks for next. */
    async function takenOver(
      fenced: boolean,
      by: 'this machine' | 'another machine' = 'this machine',
    ): Promise<{ readonly effects: readonly string[]; readonly loser: TurnOutcome }> {
      const server = await scriptedModel([calls(['slow', {}], ['send', { text: 'one' }]), call('send', { text: 'one' }), say('Sent.')], {
        otherwise: () => say('Done.'),
      })
      const effects: string[] = []
      const send = (by: string) =>
        defineTool({
          name: 'send',
          description: 'Sends.',
          effect: 'external',
          input: z.object({ text: z.string() }),
          execute: ({ text }) => {
            effects.push(`${by}: ${text}`)
            return { sent: text }
          },
        })
      const isFar = by === 'another machine'
      const [mine, theirs] = isFar ? [await openOn(path, 'a'), await openOn(path, 'b')] : [await openStore(path), await openStore(path)]
      const all = { model: agentModel(server, 'openai'), cwd: folder, approve: async () => ({ answer: 'once' }) as const }
      const winner = createAgent({ ...all, store: theirs, tools: [send('winner')] })
      const slow = defineTool({
        name: 'slow',
        description: 'Takes long.',
        effect: 'read',
        input: z.object({}),
        execute: async () => {
          const [session] = await theirs.sessions()
          const sessionId = session?.id as string
          await expect(winner.run({ sessionId, prompt: 'again' })).rejects.toThrow(SessionBusy)
          // A suspended process does not renew its lease, and another machine cannot see that it is alive.
          if (isFar) await change('UPDATE sessions SET lease_until = 0')
          expect(await winner.run({ sessionId, prompt: 'again', takeOver: !isFar })).toMatchObject({ status: 'answered', answer: 'Sent.' })
          // Clashing row numbers would stop it too.
          if (!fenced) await change('UPDATE sessions SET fence = 1; UPDATE log SET seq = seq + 1000')
          return ok([], { content: 'read' })
        },
      })
      const loser = await createAgent({ ...all, store: mine, tools: [slow, send('loser')] }).run({ prompt: 'go' })
      await Promise.all([mine.close(), theirs.close(), server.close()])
      return { effects, loser }
    }

    it('that was taken over stops before its next effect, and says so', async () => {
      const { effects, loser } = await takenOver(true)
      expect(effects).toEqual(['winner: one'])
      expect(loser).toMatchObject({ status: 'failed', stoppedBy: 'taken-over', error: expect.stringContaining('took over session') })
      const store = await openStore(path)
      const [session] = await store.sessions()
      const said = (await store.history(session?.id as string)).flatMap((one) =>
        one.role === 'assistant' ? one.parts.map((part) => ('text' in part ? part.text : '')) : [],
      )
      expect(said.filter((text) => /took over/.test(text))).toEqual([])
      await store.close()
    })

    it.runIf(name === 'PostgreSQL').each([true, false])(
      'of a machine past its lease, taken over by another one; fenced: %s',
      async (fenced) => {
        const { effects, loser } = await takenOver(fenced, 'another machine')
        expect(effects).toEqual(fenced ? ['winner: one'] : ['winner: one', 'loser: one'])
        if (!fenced) return
        expect(loser).toMatchObject({ status: 'failed', stoppedBy: 'taken-over' })
        const store = await openStore(path)
        const [session] = await store.sessions()
        const sessionId = session?.id as string
        const turns = (await store.events({ sessionId })).flatMap((one) => (one.type === 'turn.ended' ? [one.outcome] : []))
        expect(turns.map(({ status, answer }) => [status, answer])).toEqual([
          ['interrupted', expect.stringContaining('This turn was interrupted')],
          ['answered', 'Sent.'],
        ])
        expect(
          (await store.history(sessionId)).flatMap((one) => (one.role === 'results' ? one.records.map(({ tool }) => tool) : [])),
        ).toEqual(['slow', 'send', 'send'])
        await store.close()
      },
    )

    it('control: without the fence it sends a second time', async () => {
      expect((await takenOver(false)).effects).toEqual(['winner: one', 'loser: one'])
    })

    /** Runs a turn that is taken over while it waits to retry an idempotent effect. */
    async function takenOverInBackoff(fenced: boolean): Promise<number> {
      const server = await scriptedModel([call('send', {})], { otherwise: () => say('Done.') })
      const [mine, theirs] = [await openStore(path), await openStore(path)]
      let attempts = 0
      const send = defineTool({
        name: 'send',
        description: 'Sends.',
        effect: 'external',
        idempotent: true,
        input: z.object({}),
        execute: async () => {
          if (++attempts > 1) return { sent: true }
          const [session] = await theirs.sessions()
          const claim = await theirs.claim(session?.id as string, { takeOver: true })
          if ('release' in claim) await claim.release()
          if (!fenced) await change('UPDATE sessions SET fence = 1')
          throw new TransientError('503')
        },
      })
      const agent = createAgent({
        model: agentModel(server, 'openai'),
        cwd: folder,
        approve: async () => ({ answer: 'once' }),
        store: mine,
        tools: [send],
      })
      await agent.run({ prompt: 'go' })
      await Promise.all([mine.close(), theirs.close(), server.close()])
      return attempts
    }

    it('that was taken over does not try an effect again', async () => {
      expect(await takenOverInBackoff(true)).toBe(1)
    })

    it('control: without the fence it does', async () => {
      expect(await takenOverInBackoff(false)).toBe(2)
    })
  })
})
