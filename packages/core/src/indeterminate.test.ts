/**
 * Tests rule 5 after a cut-off: which calls must ask, what the question says, and what settles it. Effects are identified by tool and
 * target, not by text.
 */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { harness } from './executor.fixture.ts'
import type { Prepared } from './executor.ts'
import { type CallRecord, defineTool, render, type Tool, type ToolDefinition, type ToolEvent, ToolFailure } from './index.ts'

const statusOf = ({ result }: CallRecord): string => (result.ok ? 'ok' : result.status)
const reset = () => Promise.reject(Object.assign(new Error('x'), { code: 'ECONNRESET' }))
const allowed = { policy: () => ({ decision: 'allow' as const, reason: '' }) }

type Mail = { readonly to: string | readonly string[]; readonly text: string }
/** Sends mail. If `cut` returns true, the call is cut off after it has taken effect. */
function mailer(cut: (text: string) => boolean, more: Partial<ToolDefinition<Mail>> = {}) {
  const sent: string[] = []
  const mail = defineTool<Mail, unknown>({
    name: 'send_mail',
    description: 'Sends.',
    aliases: ['mail'],
    input: z.object({ to: z.union([z.string(), z.array(z.string())]), text: z.string() }),
    target: ({ to }) => to,
    execute: ({ to, text }) => {
      sent.push(`${to}: ${text}`)
      return cut(text) ? reset() : 'sent'
    },
    ...more,
  })
  return { mail, sent }
}

/** A shell whose target is its text, which does not show what the command does. */
function shell(cut: (command: string) => boolean) {
  const ran: string[] = []
  const tool = defineTool<{ command: string }, unknown>({
    name: 'bash',
    description: 'Runs.',
    effect: 'write',
    input: z.object({ command: z.string() }),
    target: ({ command }) => command,
    indeterminateScope: 'tool',
    effectOf: ({ command }) => (command.startsWith('cat ') ? 'read' : 'write'),
    execute: ({ command }) => {
      ran.push(command)
      return cut(command) ? reset() : 'done'
    },
  })
  return { tool, ran }
}

let n = 0
const prepare = ({ executor }: Pick<ReturnType<typeof harness>, 'executor'>, name: string, input: unknown): Promise<Prepared> =>
  executor.prepare({ id: `s/t/9/${n}`, step: 9, ordinal: n++, name, input })
const asks = async (of: ReturnType<typeof harness>, name: string, input: unknown) => (await prepare(of, name, input)).kind === 'approval'

describe('another input on the same target', () => {
  const { mail } = mailer((text) => text === 'hi')
  it.each<[string, Mail, boolean]>([
    ['the same', { to: 'ann@x.org', text: 'hi' }, true],
    ['one more space', { to: 'ann@x.org', text: 'hi ' }, true],
    ['another text', { to: 'ann@x.org', text: 'hello' }, true],
    ['another case of the address', { to: 'Ann@X.org', text: 'hello' }, true],
    ['with a name', { to: 'Ann <ann@x.org>', text: 'hello' }, true],
    ['among several', { to: ['bob@x.org', ' ann@x.org'], text: 'hello' }, true],
    ['among several in one text', { to: 'bob@x.org,ann@x.org', text: 'hello' }, true],
    ['an invisible character', { to: 'ann@x.org\u200b', text: 'hello' }, true],
    ['no target', { to: '', text: 'hello' }, true],
    ['control: another target', { to: 'bob@x.org', text: 'hello' }, false],
  ])('%s: asks %s', async (_, input, expected) => {
    const turn = harness([mail], allowed)
    expect(statusOf(await turn.call('send_mail', { to: 'ann@x.org', text: 'hi' }))).toBe('indeterminate')
    expect(await asks(turn, 'send_mail', input)).toBe(expected)
    expect(await asks(turn, 'mail', input)).toBe(expected)
  })

  it('control: before anything was cut off, nothing asks', async () => {
    const turn = harness([mail], allowed)
    expect(await asks(turn, 'send_mail', { to: 'ann@x.org', text: 'hi' })).toBe(false)
  })

  it('of a call with several targets, each', async () => {
    const turn = harness([mail], allowed)
    await turn.call('send_mail', { to: ['ann@x.org', 'bob@x.org'], text: 'hi' })
    expect(await asks(turn, 'send_mail', { to: 'bob@x.org', text: 'hello' })).toBe(true)
    expect(await asks(turn, 'send_mail', { to: 'cyd@x.org', text: 'hello' })).toBe(false)
  })
})

it('of a tool without a target, every call asks', async () => {
  const ring = (name: string, cut: boolean) =>
    defineTool({ name, description: 'Rings.', input: z.object({ bell: z.string() }), execute: () => (cut ? reset() : 'rung') })
  const turn = harness([ring('ring', true), ring('knock', false)], allowed)
  expect(await asks(turn, 'ring', { bell: 'b' })).toBe(false)
  await turn.call('ring', { bell: 'a' })
  expect(await asks(turn, 'ring', { bell: 'b' })).toBe(true)
  expect(await asks(turn, 'knock', { bell: 'a' })).toBe(false)
})

it('of a shell, every command that may write asks; reads and other tools run', async () => {
  const { tool, ran } = shell((command) => command === 'git push')
  const { mail } = mailer(() => false)
  const turn = harness([tool, mail], { ...allowed, answer: { answer: 'nobody' } })
  expect(statusOf(await turn.call('bash', { command: 'git push' }))).toBe('indeterminate')
  for (const command of ['git push', 'git  push', "sh -c 'git push'", 'git push --tags', 'touch a'])
    expect([command, statusOf(await turn.call('bash', { command }))]).toEqual([command, 'denied'])
  expect(statusOf(await turn.call('bash', { command: 'cat a' }))).toBe('ok')
  expect(statusOf(await turn.call('send_mail', { to: 'ann', text: 'x' }))).toBe('ok')
  expect(ran).toEqual(['git push', 'cat a'])
})

describe('settling', () => {
  const cutOff = async (answer: 'once' | 'no' = 'once') => {
    const { tool, ran } = shell((command) => command === 'git push')
    const turn = harness([tool], { ...allowed, answer: { answer } })
    await turn.call('bash', { command: 'git push' })
    return { turn, ran }
  }

  it('a person who says yes to another command settles it for other commands once that has succeeded, not for the same', async () => {
    const { turn } = await cutOff()
    expect(statusOf(await turn.call('bash', { command: 'touch a' }))).toBe('ok')
    expect(await asks(turn, 'bash', { command: 'touch b' })).toBe(false)
    expect(await asks(turn, 'bash', { command: 'git  push' })).toBe(true)
  })

  it('a no settles nothing', async () => {
    const { turn } = await cutOff('no')
    expect(statusOf(await turn.call('bash', { command: 'touch a' }))).toBe('denied')
    expect(await asks(turn, 'bash', { command: 'touch b' })).toBe(true)
  })

  it('a repeat that a person allowed and that succeeded settles it; one that failed does not', async () => {
    let outcome: () => unknown = reset
    const { mail } = mailer(() => false, { execute: () => outcome() })
    const turn = harness([mail], allowed)
    const send = { to: 'ann', text: 'hi' }
    await turn.call('send_mail', send)
    outcome = () => {
      throw new ToolFailure('The server said no.')
    }
    expect(statusOf(await turn.call('send_mail', send))).toBe('failed')
    expect(await asks(turn, 'send_mail', send)).toBe(true)
    outcome = () => 'sent'
    expect(statusOf(await turn.call('send_mail', { to: 'ann', text: 'again' }))).toBe('ok')
    expect(await asks(turn, 'send_mail', { to: 'ann', text: 'third' })).toBe(false)
  })

  it('a yes that was given before the cut-off settles nothing, and does not run the call', async () => {
    const { mail, sent } = mailer((text) => text === 'hi')
    const { respond } = harness([mail])
    const records = await respond(['send_mail', { to: 'ann', text: 'hi' }], ['send_mail', { to: 'ann', text: 'hello' }])
    expect(records.map(statusOf)).toEqual(['indeterminate', 'denied'])
    expect(sent).toEqual(['ann: hi'])
  })

  it('so in a new executor over the same events', async () => {
    const { turn } = await cutOff()
    const resumed = () => harness([shell(() => false).tool], { ...allowed, events: turn.events })
    expect(await asks(resumed(), 'bash', { command: 'touch b' })).toBe(true)
    await turn.call('bash', { command: 'touch a' })
    expect(await asks(resumed(), 'bash', { command: 'touch b' })).toBe(false)
    expect(await asks(resumed(), 'bash', { command: ' git push' })).toBe(true)
  })

  it.each([
    ['a success', true, () => 'sent'],
    ['a failure in the tool’s own words', true, () => Promise.reject(new ToolFailure('No such address.'))],
    ['control: an exception, which may be the cut itself', false, () => Promise.reject(new Error('socket hang up'))],
  ])('a late outcome: %s settles it: %s', async (_, settles, late) => {
    let finish: () => void = () => undefined
    const gate = new Promise<void>((resolve) => {
      finish = resolve
    })
    const { mail } = mailer(() => false, { timeout: 0.01, execute: () => gate.then(late) })
    const turn = harness([mail], allowed)
    expect(statusOf(await turn.call('send_mail', { to: 'ann', text: 'hi' }))).toBe('indeterminate')
    expect(await asks(turn, 'send_mail', { to: 'ann', text: 'hello' })).toBe(true)
    finish()
    await expect.poll(() => turn.events.some((event) => event.type === 'tool.result' && event.late)).toBe(true)
    expect(await asks(turn, 'send_mail', { to: 'ann', text: 'hello' })).toBe(!settles)
  })
})

describe('an exception after the signal', () => {
  it.each([
    ['that is not the tool’s own words leaves it unknown', () => new Error('killed'), 'indeterminate'],
    ['control: a typed one says what became of it', () => new ToolFailure('Rolled back.'), 'failed'],
  ])('%s', async (_, error, expected) => {
    const { mail } = mailer(() => false, {
      timeout: 0.01,
      execute: (__, { signal }) => new Promise((___, reject) => signal.addEventListener('abort', () => reject(error()))),
    })
    expect(statusOf(await harness([mail], allowed).call('send_mail', { to: 'ann', text: 'hi' }))).toBe(expected)
  })
})

describe('what is told', () => {
  it('the person: the tool, the target and the first words of each', async () => {
    const { mail } = mailer((text) => text.startsWith('hi'))
    const turn = harness([mail], allowed)
    await turn.call('send_mail', { to: 'ann', text: `hi \`there\`\n${'x'.repeat(500)}` })
    const asked = await prepare(turn, 'send_mail', { to: 'ann', text: 'y' })
    if (asked.kind !== 'approval') throw new Error('expected a question')
    expect(asked.request.reason).toMatch(
      /^a previous `send_mail` call \(`ann`: `hi 'there' x{40,}…`\) was cut off; it may have taken effect$/,
    )
    expect(asked.request).toMatchObject({ forced: true, indeterminate: ['s/t/1/0'] })
  })

  it('the person: of several the latest, and how many more', async () => {
    const { mail } = mailer(() => true)
    const turn = harness([mail], allowed)
    for (const text of ['one', 'two', 'three']) await turn.call('send_mail', { to: 'ann', text })
    const asked = await prepare(turn, 'send_mail', { to: 'ann', text: 'four' })
    expect(asked.kind === 'approval' && asked.request.reason).toBe(
      'previous `send_mail` calls (`ann`: `three`; `ann`: `two`; and 1 more) were cut off; they may have taken effect',
    )
  })

  it('the person: also that content from outside may have asked for it', async () => {
    const page = defineTool({
      name: 'page',
      description: 'Reads.',
      effect: 'read',
      input: z.object({}),
      untrusted: true,
      execute: () => 'Send!',
    })
    const { mail } = mailer((text) => text === 'hi')
    const turn = harness([mail, page], allowed)
    await turn.call('send_mail', { to: 'ann', text: 'hi' })
    await turn.call('page', {})
    const asked = await prepare(turn, 'send_mail', { to: 'ann', text: 'hi' })
    expect(asked.kind === 'approval' && asked.request.reason).toMatch(
      /may have taken effect; and this session has read content from outside/,
    )
  })

  it('the model: what to check, and what needs an approval until then', async () => {
    const { mail } = mailer(() => true)
    const { tool } = shell(() => true)
    const turn = harness([mail, tool], allowed)
    expect(render((await turn.call('send_mail', { to: 'ann', text: 'hi there' })).result)).toContain(
      "Check with calls that only read what became of `ann`: `hi there`. Until this is settled, every other call of send_mail on the same target needs the user's approval.",
    )
    expect(render((await turn.call('bash', { command: 'git push' })).result)).toContain(
      'what became of `git push`. Until this is settled, every other call of bash that may change something needs',
    )
  })
})

/** Random sequences of calls, some cut off, some approved by a person, checked against a second implementation of the rule. */
describe('whatever is called', () => {
  const TARGETS = ['ann', 'bob', 'cyd']
  it.each(
    Array.from({ length: 60 }, (_, seed) => seed),
  )('no effect runs on an unsettled one without a person, sequence %s', async (seed) => {
    const random = lcg(seed)
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
    let cut = false
    let ran = 0
    const tools: readonly Tool[] = (['mail', 'bash'] as const).map((name) =>
      defineTool<{ to: string; text: string }, unknown>({
        name,
        description: name,
        effect: 'write',
        input: z.object({ to: z.string(), text: z.string() }),
        target: ({ to }) => to,
        ...(name === 'bash' && { indeterminateScope: 'tool' as const }),
        execute: () => {
          ran++
          if (cut) throw new ToolFailure('Cut off.', { status: 'indeterminate' })
          return 'ok'
        },
      }),
    )
    const log: ToolEvent[] = []
    const opened = () => harness(tools, { ...allowed, events: [...log], onEvent: (event) => void log.push(event) }).executor
    let executor = opened()
    /** Unsettled calls: tool and target. `wide`: no person has approved another call since. */
    const open: { tool: string; to: string; wide: boolean }[] = []
    for (let step = 0; step < 30; step++) {
      if (random() < 0.15) executor = opened()
      const tool = pick(['mail', 'bash'])
      const to = pick(TARGETS)
      const input = { to: to + pick(['', ' ', '  ']), text: `${step}` }
      const mustAsk = open.filter((one) => one.tool === tool && (one.to === to || (tool === 'bash' && one.wide)))
      const person = random() < 0.5
      cut = random() < 0.4
      const before = ran
      const prepared = await executor.prepare({ id: `p/${seed}/${step}`, step, ordinal: 0, name: tool, input })
      expect([step, prepared.kind]).toEqual([step, mustAsk.length > 0 ? 'approval' : 'ready'])
      if (prepared.kind === 'approval') {
        const decided = await executor.decide(prepared.call, prepared.request, { answer: person ? 'once' : 'nobody' })
        if (decided.kind === 'ready') await executor.execute(decided.call)
      } else if (prepared.kind === 'ready') await executor.execute(prepared.call)
      const hasRun = ran > before
      expect(hasRun).toBe(mustAsk.length === 0 || person)
      if (hasRun && !cut)
        for (const one of mustAsk) {
          if (one.to === to) open.splice(open.indexOf(one), 1)
          else one.wide = false
        }
      if (hasRun && cut) open.push({ tool, to, wide: true })
    }
  })
})

/** Returns the same numbers for the same seed. */
function lcg(seed: number): () => number {
  let state = seed + 1
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}
