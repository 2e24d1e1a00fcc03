/** Random servers, clients and crashes: whatever happens, each request gets one answer in time, and no write is sent twice. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { openJournal } from './journal.ts'
import { type Got, manualClock, type Running, says, settled, talk } from './proxy.fixture.ts'

const RUNS = process.env['TESTS'] === 'all' ? 1000 : 60

/** What a server does with a call. */
const BEHAVIOURS = [
  ...[
    'answers',
    'answers',
    'answers',
    'dies',
    'hangs',
    'answers late',
    'answers twice',
    'answers another',
    'garbage',
    'flood',
    'huge line',
    'error',
  ],
] as const
type Behaviour = (typeof BEHAVIOURS)[number]

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('write' as const), which: fc.nat(3), as: fc.constantFrom(...BEHAVIOURS) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('read' as const), which: fc.nat(3), as: fc.constantFrom(...BEHAVIOURS) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('list' as const), which: fc.nat(1), as: fc.constantFrom(...BEHAVIOURS) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), which: fc.nat(200), as: fc.constant('answers' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const), which: fc.nat(1), as: fc.constant('answers' as const) }) },
)
type Step = { readonly do: 'write' | 'read' | 'list' | 'wait' | 'restart'; readonly which: number; readonly as: Behaviour }

interface Ran {
  /** Writes that the server got although an equal one had been cut off. */
  readonly repeated: number
  /** Requests and how many replies each got. */
  readonly replies: readonly (readonly [request: string, count: number])[]
}

/** Behaviours after which nobody outside knows whether a write took effect. */
const CUTS: readonly Behaviour[] = ['dies', 'hangs', 'huge line', 'answers late']

/** @param isGuarded whether calls with effects are recorded */
async function play(steps: readonly Step[], isGuarded: boolean): Promise<Ran> {
  const folder = mkdtempSync(join(tmpdir(), 'mulligan-chaos-'))
  const time = manualClock()
  const unknown = new Set<string>()
  const replies: [string, number][] = []
  let behaviour: Behaviour = 'answers'
  let generation = 0
  let repeated = 0

  function handle(got: Got, server: Running): unknown {
    const { name, arguments: args } = got.params
    const key = JSON.stringify(args)
    if (name === 'send_mail') {
      if (unknown.has(key)) repeated++
      if (CUTS.includes(behaviour)) unknown.add(key)
    }
    switch (behaviour) {
      case 'answers':
        return says(`ok ${generation} ${got.id}`)
      case 'error':
        return says('no', { isError: true })
      case 'dies':
        return server.die() as undefined
      case 'hangs':
        return undefined
      case 'answers late':
        void time.clock.sleep(90_000).then(() => {
          if (server.isUp()) unknown.delete(key)
          server.reply(got.id, says('late'))
        })
        return undefined
      case 'answers twice':
        server.reply(got.id, says('first'))
        return says('second')
      case 'answers another':
        server.reply(`${got.id}0`, says('of another'))
        return says('ok')
      case 'garbage':
        server.events.line('<html>')
        server.events.line('{"id":1}')
        return says('ok')
      case 'flood':
        for (let at = 0; at < 200; at++) server.send({ jsonrpc: '2.0', method: 'notifications/message', params: { data: at } })
        return says('ok')
      case 'huge line':
        server.events.long({ bytes: 1e9, head: `{"jsonrpc":"2.0","id":${JSON.stringify(got.id)},"result":{`, tail: '' })
        return undefined
    }
  }

  async function open() {
    generation++
    // Each proxy is a process of its own; the ones before are gone.
    const journal = isGuarded ? openJournal(join(folder, 'calls.db'), 4_000_000 + generation) : undefined
    const at = await talk(handle, { time, ...(journal && { journal }) })
    return { at, journal, asked: [1] as number[] }
  }

  let one = await open()
  async function close(): Promise<void> {
    await time.advance(1_300_000)
    const answers = one.at.lines.map((line) => JSON.parse(line) as { readonly id?: unknown; readonly method?: string })
    for (const id of one.asked)
      replies.push([`${generation}/${id}`, answers.filter((answer) => answer.id === id && answer.method === undefined).length])
    await one.at.proxy.end()
    one.journal?.close()
  }
  for (const { do: what, which, as } of steps) {
    behaviour = as
    if (what === 'wait') await time.advance(which * 1000)
    else if (what === 'restart') {
      await close()
      behaviour = 'answers'
      one = await open()
    } else {
      const id = one.asked.length + 1
      one.asked.push(id)
      const params =
        what === 'write' ? { name: 'send_mail', arguments: { to: `${which}` } } : { name: 'read_note', arguments: { path: `${which}` } }
      const message = what === 'list' ? { method: 'tools/list', params: {} } : { method: 'tools/call', params }
      one.at.proxy.fromClient(JSON.stringify({ jsonrpc: '2.0', id, ...message }))
      await settled()
    }
  }
  await close()
  rmSync(folder, { recursive: true })
  return { repeated, replies }
}

it('each request gets one answer in time, and no write is sent again while its effect is unknown', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      const { repeated, replies } = await play(steps as Step[], true)
      expect(replies.filter(([, count]) => count !== 1)).toEqual([])
      expect(repeated).toBe(0)
    }),
    { numRuns: RUNS },
  )
}, 600_000)

it('control: without the record of calls, writes are sent again', async () => {
  let most = 0
  for (const steps of fc.sample(fc.array(step, { minLength: 15, maxLength: 25 }), { numRuns: 10, seed: 1 }))
    most = Math.max(most, (await play(steps as Step[], false)).repeated)
  expect(most).toBeGreaterThan(0)
}, 60_000)
