/** Tests tools on a throwaway layer: they run without asking, and their changes are decided afterwards. */
import { beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createExecutor } from './create-executor.ts'
import { ModelRetry, ToolFailure } from './errors.ts'
import type { ApprovalDecision, ToolEvent } from './events.ts'
import type { ExecutorOptions } from './executor-options.ts'
import type { Confinement, ProposedChanges } from './layer.ts'
import { modePolicy, type Policy, rulesPolicy } from './policy.ts'
import { render } from './render.ts'
import { defineTool } from './tool.ts'

/** The workspace: path → text. */
let files: Map<string, string>
let layers: Map<string, ReadonlyMap<string, string>>
let runs: string[]
let events: ToolEvent[]
beforeEach(() => {
  files = new Map([['a.txt', '1']])
  layers = new Map()
  runs = []
  events = []
})

/** `write PATH TEXT` writes on the layer; `fail` fails after that; anything else reads. */
const shell = (confinement: Confinement = 'layer', more: Partial<ProposedChanges> = {}, command = z.string()) =>
  defineTool({
    name: 'bash',
    description: 'Runs a command.',
    input: z.object({ command }),
    effect: 'write',
    target: ({ command }) => command,
    layer: {
      confinement: () => confinement,
      keep: async ({ id, targets }) => {
        if (files.get('a.txt') === 'theirs') throw new ModelRetry('"a.txt" changed while the command ran.', { errorType: 'conflict' })
        for (const [path, text] of layers.get(id) ?? []) files.set(path, text)
        layers.delete(id)
        return [`kept: ${targets.join(', ')}`]
      },
      discard: async ({ id }) => {
        layers.delete(id)
      },
    },
    execute: ({ command }, ctx) => {
      runs.push(`${command} (${ctx.confinement ?? 'direct'})`)
      const [verb, path, text] = command.split(' ')
      if (verb !== 'read' && path && text) {
        if (!ctx.propose) files.set(path, text)
        else {
          layers.set(ctx.callId, new Map([[path, text]]))
          ctx.propose({ id: ctx.callId, hash: text, targets: [path], summary: `1 file changed`, ...more })
        }
      }
      if (verb === 'fail') throw new ToolFailure('exit code 1', { content: 'it said so' })
      return 'printed'
    },
  })

function session(options: Partial<ExecutorOptions> & { readonly policy?: Policy } = {}, tool = shell()) {
  let ordinal = 0
  const executor = createExecutor({ tools: [tool], onEvent: (event) => void events.push(event), ...options })
  return async (command: string, decision?: ApprovalDecision) => {
    const prepared = await executor.prepare({ id: `s/1/1/${ordinal}`, step: 1, ordinal: ordinal++, name: 'bash', input: { command } })
    if (prepared.kind === 'result') return { record: prepared.record, asked: 'no' as const }
    if (prepared.kind === 'approval') return { record: undefined, asked: 'before' as const, request: prepared.request }
    const performed = await executor.perform(prepared.call)
    if (performed.kind === 'result') return { record: performed.record, asked: 'no' as const }
    const changedMeanwhile = files.get('a.txt')
    return {
      asked: 'after' as const,
      request: performed.request,
      changedMeanwhile,
      record: await executor.apply(performed, decision ?? { answer: 'nobody' }),
    }
  }
}

describe('in every mode', () => {
  test('nothing is asked before it runs, and what it did has not happened when the question is put', async () => {
    const { asked, request, changedMeanwhile, record } = await session()('write a.txt 2', { answer: 'once' })
    expect([asked, changedMeanwhile, files.get('a.txt')]).toEqual(['after', '1', '2'])
    expect(request).toMatchObject({ tool: 'bash', effect: 'write', changes: { hash: '2', targets: ['a.txt'] } })
    expect(record).toMatchObject({ effect: 'write', changed: ['a.txt'], result: { ok: true, notes: ['kept: a.txt'] } })
  })

  test('what changed nothing is a read, and nobody is asked', async () => {
    const { asked, record } = await session({ policy: modePolicy('read-only') })('read')
    expect(asked).toBe('no')
    expect(record).toMatchObject({ effect: 'read', result: { ok: true } })
  })

  test('read-only discards, and says what was not kept with what was printed', async () => {
    const { asked, record } = await session({ policy: modePolicy('read-only') })('write a.txt 2')
    expect([asked, files.get('a.txt'), layers.size]).toEqual(['no', '1', 0])
    expect(record).toMatchObject({ effect: 'read', result: { ok: false, status: 'denied' } })
    expect(record && render(record.result)).toMatch(/discarded \(1 file changed\)[\s\S]*printed/)
  })

  test('auto-edit keeps at once, and asks about what is run on the real files', async () => {
    const policy = modePolicy('auto-edit')
    const { asked } = await session({ policy })('write a.txt 2')
    expect([asked, files.get('a.txt')]).toEqual(['no', '2'])
    expect((await session({ policy }, shell('direct'))('write a.txt 3')).asked).toBe('before')
  })

  test('auto keeps at once', async () => {
    const { asked, record } = await session({ policy: modePolicy('auto') })('write a.txt 2')
    expect([asked, files.get('a.txt'), record?.result.ok]).toEqual(['no', '2', true])
  })
})

describe('the answer', () => {
  test.each(['no', 'nobody', 'timeout'] as const)('%s discards', async (answer) => {
    const { record } = await session()('write a.txt 2', { answer })
    expect([files.get('a.txt'), layers.size]).toEqual(['1', 0])
    expect(record?.result).toMatchObject({ ok: false, status: 'denied', details: { by: answer } })
  })

  test('a no is remembered: the same command is not run again in this turn', async () => {
    const call = session()
    await call('write a.txt 2', { answer: 'no', reason: 'not now' })
    const again = await call('write a.txt 2')
    expect(again.record?.result).toMatchObject({ status: 'denied' })
    expect(runs).toHaveLength(1)
  })

  test('execute asks nobody: without a policy that allows it, it discards', async () => {
    const executor = createExecutor({ tools: [shell()] })
    const prepared = await executor.prepare({ id: 's/1/1/0', step: 1, ordinal: 0, name: 'bash', input: { command: 'write a.txt 2' } })
    if (prepared.kind !== 'ready') throw new Error(prepared.kind)
    expect((await executor.execute(prepared.call)).result).toMatchObject({ status: 'denied', details: { by: 'nobody' } })
    expect(files.get('a.txt')).toBe('1')
  })

  test('one held call is applied once', async () => {
    const executor = createExecutor({ tools: [shell()] })
    const prepared = await executor.prepare({ id: 's/1/1/0', step: 1, ordinal: 0, name: 'bash', input: { command: 'write a.txt 2' } })
    const performed = prepared.kind === 'ready' ? await executor.perform(prepared.call) : undefined
    if (performed?.kind !== 'held') throw new Error('not held')
    const both = await Promise.all([executor.apply(performed, { answer: 'once' }), executor.apply(performed, { answer: 'once' })])
    expect(both.map(({ result }) => (result.ok ? 'ok' : result.status))).toEqual(['ok', 'failed'])
  })
})

describe('rules', () => {
  const rules = (...list: Parameters<typeof rulesPolicy>[0]) => ({ policy: rulesPolicy(list) })

  test('a denied command is not run', async () => {
    const { record } = await session(rules({ tool: 'bash', target: 'write *', decision: 'deny' }))('write a.txt 2')
    expect([record?.result, runs]).toMatchObject([{ status: 'denied' }, []])
  })

  test('a rule about a parameter holds for what the schema makes of it', async () => {
    const never = rules({ effect: 'write', input: { command: 'write *' }, decision: 'deny' }, { decision: 'allow' })
    const trims = shell('layer', {}, z.string().trim())
    expect((await session(never, trims)(' write a.txt 2')).record?.result).toMatchObject({ status: 'denied' })
    expect(files.get('a.txt')).toBe('1')
  })

  test('an allowed command is kept unasked', async () => {
    const { asked } = await session(rules({ tool: 'bash', target: 'write *', decision: 'allow' }))('write a.txt 2')
    expect([asked, files.get('a.txt')]).toEqual(['no', '2'])
  })

  test('a path that may not be changed is not, by an allowed command either', async () => {
    const allowed = rules({ target: 'b.txt', decision: 'deny' }, { tool: 'bash', decision: 'allow' })
    const { record } = await session(allowed)('write b.txt 2')
    expect([record?.result, files.has('b.txt')]).toMatchObject([{ status: 'denied' }, false])
  })

  test('what only a person may decide is asked about, whatever is allowed', async () => {
    const policy = modePolicy('auto')
    const { asked, request } = await session({ policy }, shell('layer', { forced: 'it changes git hooks' }))('write a.txt 2')
    expect([asked, request?.forced, request?.reason, files.get('a.txt')]).toEqual(['after', true, 'it changes git hooks', '1'])
  })
})

describe('unhappy ends', () => {
  test('a command that failed is failed, and what it changed is decided about', async () => {
    const { record } = await session()('fail a.txt 2', { answer: 'once' })
    expect(record).toMatchObject({ changed: ['a.txt'], result: { ok: false, status: 'failed', notes: ['kept: a.txt'] } })
    expect(files.get('a.txt')).toBe('2')
  })

  test('a conflict keeps nothing and says so', async () => {
    const executor = createExecutor({ tools: [shell()] })
    const prepared = await executor.prepare({ id: 's/1/1/0', step: 1, ordinal: 0, name: 'bash', input: { command: 'write a.txt 2' } })
    const performed = prepared.kind === 'ready' ? await executor.perform(prepared.call) : undefined
    if (performed?.kind !== 'held') throw new Error('not held')
    files.set('a.txt', 'theirs')
    const { result } = await executor.apply(performed, { answer: 'once' })
    expect(result).toMatchObject({ ok: false, status: 'retry', errorType: 'conflict' })
    expect([files.get('a.txt'), layers.size]).toEqual(['theirs', 0])
  })

  test('a stopped turn keeps nothing', async () => {
    const stop = new AbortController()
    const executor = createExecutor({ tools: [shell()], signal: stop.signal })
    const prepared = await executor.prepare({ id: 's/1/1/0', step: 1, ordinal: 0, name: 'bash', input: { command: 'write a.txt 2' } })
    const performed = prepared.kind === 'ready' ? await executor.perform(prepared.call) : undefined
    if (performed?.kind !== 'held') throw new Error('not held')
    stop.abort()
    expect((await executor.apply(performed, { answer: 'once' })).result).toMatchObject({ status: 'cancelled' })
    expect([files.get('a.txt'), layers.size]).toEqual(['1', 0])
  })

  test('the intent to keep is on record before anything is changed', async () => {
    const at: string[] = []
    const policy = modePolicy('auto')
    const onEvent = (event: ToolEvent) => {
      if (event.type === 'tool.started') at.push(`${event.effect} ${files.get('a.txt')}`)
    }
    await session({ policy, onEvent })('write a.txt 2')
    expect(at).toEqual(['read 1', 'write 1'])
  })

  test('an intent that cannot be recorded keeps nothing', async () => {
    const policy = modePolicy('auto')
    const onEvent = async (event: ToolEvent) => {
      if (event.type === 'tool.started' && event.effect === 'write') throw new Error('disk full')
    }
    await session({ policy, onEvent })('write a.txt 2')
    expect([files.get('a.txt'), layers.size]).toEqual(['1', 0])
  })
})

describe('other confinements', () => {
  test('read-only runs unasked and as a read', async () => {
    const { asked, record } = await session({}, shell('read-only'))('read')
    expect([asked, record?.effect, runs]).toEqual(['no', 'read', ['read (read-only)']])
  })

  test('direct asks before it runs', async () => {
    const { asked } = await session({}, shell('direct'))('write a.txt 2')
    expect([asked, runs]).toEqual(['before', []])
  })

  test('a tool that cannot say how it is confined is asked about', async () => {
    const tool = shell()
    const broken = { ...tool, layer: { ...tool.layer, confinement: () => Promise.reject(new Error('no sandbox')) } } as typeof tool
    expect((await session({}, broken)('write a.txt 2')).asked).toBe('before')
  })
})
