import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { defineTool, ModelRetry, ok, type Tool, ToolFailure } from '@mulligan/core'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { endNote, FILES, inMemory, missing, notesIn, read, readNote } from './conformance.fixture.ts'
import { conformance } from './conformance.ts'
import type { ToolReport } from './report.ts'

type Make = (notes: Map<string, string>) => Tool

/** The report on one tool for notes in memory. */
async function report(make: Make, options = {}): Promise<ToolReport> {
  const { tools, problem } = await conformance((dir) => [make(notesIn(dir))], { ...inMemory, ...options })
  if (!tools[0]) throw new Error(problem)
  return tools[0]
}

const failing = ({ checks }: ToolReport): string[] => checks.filter(({ outcome }) => outcome === 'fail').map(({ check }) => check)
const check = ({ checks }: ToolReport, name: string) => checks.find((one) => one.check === name)

/** A service that responds quickly unless the connection is aborted. */
const answer = (signal: AbortSignal, onAbort: (reject: (reason: unknown) => void) => void): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, 1)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      onAbort(reject)
    })
  })

/** Work that takes longer than the tiny timeout of the check, and ignores its signal. */
const slowly = (write: () => void): Promise<void> =>
  new Promise((resolve) =>
    setTimeout(() => {
      write()
      resolve()
    }, 150),
  )
const rejected = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))

/** Each fault, planted in a tool, and the same tool without it. */
const PLANTED: readonly [what: string, flagged: string, bad: Make, good: Make][] = [
  [
    'an error returned as a success',
    'error_as_success',
    (notes) =>
      readNote(notes, {
        execute: ({ path }) => notes.get(path) ?? `Error: no note "${path}"`,
        examples: readExamples(notes, 'ok', 'retry'),
      }),
    (notes) => readNote(notes, { execute: ({ path }) => read(notes, path), examples: readExamples(notes, 'ok', 'retry') }),
  ],
  [
    'nothing found reported as an error',
    'retry_versus_empty',
    (notes) =>
      readNote(notes, {
        execute: ({ path }) => {
          if (notes.get(path) === '') throw new ToolFailure('There is nothing in the note.')
          return read(notes, path)
        },
      }),
    (notes) => readNote(notes),
  ],
  [
    'an abort that is ignored',
    'heeds_abort',
    (notes) =>
      readNote(notes, {
        execute: async ({ path }, { signal }) => {
          await answer(signal, () => undefined)
          return read(notes, path)
        },
      }),
    (notes) =>
      readNote(notes, {
        execute: async ({ path }, { signal }) => {
          await answer(signal, (reject) => reject(signal.reason))
          return read(notes, path)
        },
      }),
  ],
  [
    'a write after the timeout',
    'late_write',
    (notes) => endNote(notes, (write, { signal }) => Promise.race([slowly(write), rejected(signal)])),
    (notes) => endNote(notes, (write, { signal }) => Promise.race([slowly(() => signal.aborted || write()), rejected(signal)])),
  ],
  [
    'output without a bound',
    'bounded_output',
    (notes) => readNote(notes, { execute: ({ path }) => (path === 'a.md' ? 'x'.repeat(1_000_001) : read(notes, path)) }),
    (notes) => readNote(notes, { execute: ({ path }) => (path === 'a.md' ? 'x'.repeat(10_000) : read(notes, path)) }),
  ],
  [
    'a hint that says nothing',
    'actionable_hint',
    (notes) => readNote(notes, { execute: ({ path }) => hinting(notes, path, new ModelRetry('Invalid input')) }),
    (notes) => readNote(notes, { execute: ({ path }) => hinting(notes, path, new ModelRetry('There is no note at that path.')) }),
  ],
  [
    'a read that writes',
    'effect',
    (notes) =>
      readNote(notes, {
        execute: ({ path }) => {
          const found = read(notes, path)
          notes.set('.last-read', path)
          return found
        },
      }),
    (notes) => readNote(notes, { execute: ({ path }) => read(notes, path) }),
  ],
  [
    'a stack on one line',
    'no_leak',
    (notes) =>
      readNote(notes, { execute: ({ path }) => opening(notes, path, ({ stack = '' }) => new ToolFailure(stack.replaceAll(/\s+/g, ' '))) }),
    (notes) => readNote(notes, { execute: ({ path }) => opening(notes, path, () => new ToolFailure('Look at 12:30 (see at /a).')) }),
  ],
  [
    'the password of a URL',
    'no_leak',
    (notes) =>
      readNote(notes, {
        execute: ({ path }) => opening(notes, path, () => new ToolFailure('No answer from postgres://ann:hunter2@db:5432/notes.')),
      }),
    (notes) =>
      readNote(notes, {
        execute: ({ path }) => opening(notes, path, () => new ToolFailure('No answer from postgres://db:5432/notes, ask ann@example.org.')),
      }),
  ],
  [
    'a stack that leaks',
    'no_leak',
    (notes) => readNote(notes, { execute: ({ path }) => opening(notes, path, ({ stack }) => new ToolFailure(stack ?? '')) }),
    (notes) => readNote(notes, { execute: ({ path }) => opening(notes, path, () => new ToolFailure('The note cannot be opened.')) }),
  ],
]

function readExamples(notes: Map<string, string>, ...outcomes: string[]) {
  return readNote(notes).examples.filter(({ outcome }) => outcomes.includes(outcome))
}

function hinting(notes: Map<string, string>, path: string, hint: ModelRetry) {
  if (!notes.has(path)) throw hint
  return read(notes, path)
}

function opening(notes: Map<string, string>, path: string, fail: (error: Error) => Error) {
  if (path.includes('\0')) throw fail(new Error('EINVAL'))
  return read(notes, path)
}

describe('conformance', () => {
  it.each(PLANTED)('flags %s as %s, and only as that', async (_, flagged, bad) => {
    const found = await report(bad)
    expect(failing(found)).toEqual([flagged])
    expect(found.conforms).toBe(false)
    expect(check(found, flagged)?.why).toEqual(expect.any(String))
  })

  it.each(PLANTED)('flags nothing where there is no such fault (%s)', async (_, __, ___, good) => {
    const found = await report(good)
    expect(found.checks.filter(({ outcome }) => outcome === 'fail')).toEqual([])
    expect(found.conforms).toBe(true)
  })

  it('tells what the tool does in each case, and what that costs to read', async () => {
    const found = await report((notes) => readNote(notes))
    expect(found.behaviour).toEqual({
      found: 'ok',
      empty: 'ok, count 0',
      wrong: 'retry (not_found), suggests a call',
      failing: 'not shown',
    })
    expect(check(found, 'actionable_hint')?.tokens).toBeGreaterThan(10)
    expect(found).toMatchObject({ tool: 'read_note', effect: 'read' })
  })
})

describe('examples', () => {
  it.each<[string, Partial<Parameters<typeof readNote>[1]>, string]>([
    ['none at all', { examples: [] }, 'no ok example; no retry example'],
    ['an ok that is not', { examples: [{ outcome: 'ok', input: { path: 'b.md' } }] }, 'returned retry (not_found)'],
    ['an ok that finds nothing', { examples: [{ outcome: 'ok', input: { path: 'c' }, files: { c: '' } }] }, 'returned ok, count 0'],
    ['a retry that is ok', { examples: [{ outcome: 'retry', input: { path: 'a.md' }, files: FILES }] }, 'returned ok'],
    ['a failure that is a retry', { examples: [{ outcome: 'failed', input: { path: 'b.md' } }] }, 'returned retry'],
  ])('%s', async (_, more, why) => {
    const found = check(await report((notes) => readNote(notes, more)), 'examples')
    expect(found).toMatchObject({ outcome: 'fail', why: expect.stringContaining(why) })
  })

  it('a tool without parameters needs no retry example', async () => {
    const ping = defineTool({
      name: 'ping',
      description: 'Pings.',
      input: z.object({}),
      effect: 'read',
      examples: [{ outcome: 'ok', input: {} }],
      execute: () => 'pong',
    })
    expect(await conformance([ping])).toMatchObject({ conforms: true })
  })

  it('transient faults are not waited for', async () => {
    const { tools } = await conformance([
      readNote(new Map(), {
        examples: [{ outcome: 'failed', input: { path: 'x' } }],
        execute: () => Promise.reject(Object.assign(new Error('down'), { code: 'ECONNREFUSED' })),
      }),
    ])
    expect(tools[0]?.behaviour.failing).toBe('unavailable (network)')
  })
})

describe('error_as_success', () => {
  const flagged = async (returned: unknown, files = FILES) => {
    const examples = [{ outcome: 'ok' as const, input: { path: 'a.md' }, files }]
    return check(await report((notes) => readNote(notes, { examples, execute: () => returned })), 'error_as_success')?.outcome === 'fail'
  }
  it.each([
    ['Error: no'],
    ['error - no'],
    ['Failed to open'],
    ['Traceback (most recent call last):\n…'],
    ['TypeError: x'],
    [{ error: 'no' }],
  ])('%j is one', async (returned) => expect(await flagged(returned)).toBe(true))
  it.each([
    ['3 errors in 2 files'],
    ['Failures are listed below.'],
    [{ error: null, rows: 1 }],
    ['Errors: 0'],
    [{ errors: [] }],
  ])('%j is none', async (returned) => expect(await flagged(returned)).toBe(false))
  it('a file that begins so is data', async () => {
    expect(await flagged('Error: from the log', { 'a.md': 'Error: from the log\n' })).toBe(false)
  })
})

describe('actionable_hint', () => {
  const hint = (thrown: ModelRetry) =>
    report((notes) => readNote(notes, { execute: ({ path }) => hinting(notes, path, thrown) })).then((one) => check(one, 'actionable_hint'))

  it.each([
    ['a call that is wrong too', new ModelRetry('No.', { parameter: 'path', constraint: 'a note', suggestion: 'zzz.md' })],
    ['a constraint without a word on what', new ModelRetry('Too long.', { constraint: 'shorter' })],
    ['a parameter that the model is never told', new ModelRetry('Bad value', { parameter: 'path' })],
  ])('%s is none', async (_, thrown) => {
    expect(await hint(thrown)).toMatchObject({ outcome: 'fail' })
  })

  it.each([
    ['a call that works', new ModelRetry('No.', { parameter: 'path', value: 'x', suggestion: 'a.md' })],
    ['what the parameter must be', new ModelRetry('No.', { parameter: 'path', value: 'x', constraint: 'an existing note' })],
    ['candidates', new ModelRetry('Not there.', { value: 'x', candidates: ['a.md'] })],
  ])('%s is one', async (_, thrown) => {
    expect(await hint(thrown)).toMatchObject({ outcome: 'pass' })
  })

  it('a parameter called input makes no hint of "Invalid input"', async () => {
    const tool = defineTool({
      name: 'run',
      description: 'Runs.',
      effect: 'read',
      input: z.object({ input: z.string() }),
      examples: [{ outcome: 'retry', input: { input: 'x' } }],
      execute: () => {
        throw new ModelRetry('Invalid input.')
      },
    })
    expect(failing((await conformance([tool])).tools[0] as ToolReport)).toContain('actionable_hint')
  })
})

describe('retry_versus_empty', () => {
  it('a refused call that has done something all the same is flagged', async () => {
    const hasty: Make = (notes) =>
      endNote(notes, async (write) => write(), {
        execute: ({ path }) => {
          if (!notes.has(path)) {
            notes.set('tried.md', path)
            throw missing(path)
          }
          notes.set(path, 'ended')
          return ok(path)
        },
      })
    const found = await report(hasty)
    expect(failing(found)).toEqual(['retry_versus_empty'])
    expect(check(found, 'retry_versus_empty')?.why).toContain('changed tried.md')
  })
})

describe('wrong_types', () => {
  it('flags a tool whose own check lets everything through', async () => {
    const lax: Make = (notes) => {
      const tool = readNote(notes, { execute: ({ path }) => notes.get(path) ?? 'nothing there' })
      return { ...tool, check: { ...tool.check, check: (value) => ({ ok: true, value }) } }
    }
    expect(check(await report(lax), 'wrong_types')?.why).toContain('path missing: returned ok, and ran')
  })
})

describe('heeds_abort', () => {
  it('a signal that was aborted before the tool began counts too', async () => {
    const deaf: Make = (notes) =>
      readNote(notes, {
        execute: async ({ path }, { signal }) => {
          // Takes long only if the call was already aborted: the event that it waits for is over.
          await (signal.aborted ? rejected(signal) : Promise.resolve())
          return read(notes, path)
        },
      })
    expect(check(await report(deaf), 'heeds_abort')?.why).toContain('aborted before it started')
  })
})

describe('a tool that hangs', () => {
  it('is waited for once', async () => {
    const waits: number[] = []
    const hangs: Make = (notes) =>
      readNote(notes, {
        execute: async (_, { signal }) => {
          const started = performance.now()
          await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
          waits.push(performance.now() - started)
          return new Promise(() => undefined)
        },
      })
    const found = await report(hangs, { timeoutMs: 1500 })
    expect(found.conforms).toBe(false)
    expect(waits.length).toBeGreaterThan(3)
    expect(waits.filter((ms) => ms >= 1490)).toHaveLength(1)
  })
})

describe('external tools', () => {
  const sender = (sent: unknown[]) =>
    readNote(new Map(Object.entries(FILES)), {
      name: 'send',
      effect: 'external',
      execute: ({ path }) => {
        if (path === 'b.md') throw missing(path)
        sent.push(path)
        return ok('sent')
      },
    })

  it('are not run, except for what they refuse; the report says so', async () => {
    const sent: unknown[] = []
    const { tools } = await conformance([sender(sent)])
    expect(sent).toEqual([])
    const [one] = tools as [ToolReport]
    expect(one.checks.map(({ check: name, outcome }) => [name, outcome])).toEqual([
      ['examples', 'pass'],
      ['retry_versus_empty', 'pass'],
      ['error_as_success', 'pass'],
      ['actionable_hint', 'pass'],
      ['wrong_types', 'pass'],
      ['heeds_abort', 'not_run'],
      ['late_write', 'not_run'],
      ['bounded_output', 'pass'],
      ['no_leak', 'pass'],
      ['effect', 'not_run'],
    ])
    expect(check(one, 'examples')?.why).toBe('2 of 3 examples not run: they would leave this machine')
    expect(one.behaviour.found).toBe('not run: it would leave this machine')
  })

  it('are never reached by a wrong type, though their own check is lax', async () => {
    const sent: unknown[] = []
    const tool = sender(sent)
    const { tools } = await conformance([{ ...tool, check: { ...tool.check, check: (value) => ({ ok: true, value }) } }])
    expect(sent).toEqual([])
    expect(failing(tools[0] as ToolReport)).toEqual(['wrong_types'])
  })

  it('are run where the caller says that the service is a stand-in', async () => {
    const sent: unknown[] = []
    await conformance([sender(sent)], { external: 'run' })
    expect(sent).toContain('a.md')
  })
})

describe('whatever it is given', () => {
  it('a list of tools has no workspace to watch, and the report says so', async () => {
    const { tools } = await conformance([readNote(new Map(Object.entries({ ...FILES, 'blank.md': '' })))])
    expect(check(tools[0] as ToolReport, 'effect')).toMatchObject({ outcome: 'not_run', why: expect.stringContaining('function') })
    expect(tools[0]?.conforms).toBe(true)
  })

  it.each<[string, Parameters<typeof conformance>, string]>([
    ['no tool', [[]], 'there are no tools'],
    ['tools that cannot be made', [() => Promise.reject(new Error('no key'))], 'no key'],
    ['no workspace', [[], { workspace: () => Promise.reject(new Error('disk full')) }], 'disk full'],
  ])('%s is a report, not an exception', async (_, given, problem) => {
    expect(await conformance(...given)).toMatchObject({ tools: [], conforms: false, problem: expect.stringContaining(problem) })
  })

  it('a toolset that is another one the next time fails, and is told', async () => {
    let made = 0
    const { conforms, tools } = await conformance(() => (made++ === 0 ? [readNote(new Map())] : []))
    expect(conforms).toBe(false)
    expect(check(tools[0] as ToolReport, 'examples')).toMatchObject({ outcome: 'fail', why: expect.stringContaining('read_note') })
  })
})

describe('a temporary folder', () => {
  const saveFile = (dir: string, fail: (error: unknown) => Error = () => new ToolFailure('It could not be saved.')): Tool =>
    defineTool({
      name: 'save_file',
      description: 'Saves a file.',
      effect: 'write',
      input: z.object({ path: z.string(), text: z.string() }),
      examples: [
        { outcome: 'ok', input: { path: 'docs/a.md', text: 'new' }, files: { 'docs/a.md': 'old', 'b.md': 'b' } },
        { outcome: 'retry', input: { path: '', text: 'x' } },
      ],
      execute: async ({ path, text }, { signal }) => {
        if (path === '') throw new ModelRetry('path is empty.', { parameter: 'path', value: '', constraint: 'a file name' })
        try {
          await readFile(join(dir, path), { encoding: 'utf8', signal }).catch(() => '')
          signal.throwIfAborted()
          await mkdir(dirname(join(dir, path)), { recursive: true })
          await writeFile(join(dir, path), text)
        } catch (error) {
          if (signal.aborted) throw error
          throw fail(error)
        }
        return ok({ path })
      },
    })

  it('holds exactly the files of the example, and shows what was changed', async () => {
    const seen: string[] = []
    const { tools, conforms } = await conformance((dir) => {
      seen.push(dir)
      return [saveFile(dir)]
    })
    expect(tools[0]?.checks.filter(({ outcome }) => outcome === 'fail')).toEqual([])
    expect(conforms).toBe(true)
    expect(check(tools[0] as ToolReport, 'effect')).toEqual({ check: 'effect', outcome: 'pass' })
    expect(new Set(seen).size).toBe(seen.length)
    await expect(readFile(join(seen[1] as string, 'docs/a.md'))).rejects.toThrow('ENOENT')
  })

  it('is prepared before the files of each example are there, for the tool that it is for', async () => {
    const names = new Set<string>()
    const prepare = async (dir: string, { name }: Tool) => {
      names.add(name)
      await expect(readFile(join(dir, 'b.md'))).rejects.toThrow('ENOENT')
      await writeFile(join(dir, 'made.md'), 'made')
    }
    const madeThere = (dir: string): Tool => ({
      ...saveFile(dir),
      execute: async () => {
        await writeFile(join(dir, 'docs/a.md'), await readFile(join(dir, 'made.md')))
        return ok('done')
      },
    })
    const { tools } = await conformance((dir) => [madeThere(dir)], { prepare })
    expect(check(tools[0] as ToolReport, 'effect')).toEqual({ check: 'effect', outcome: 'pass' })
    expect([...names]).toEqual(['save_file'])
  })

  it('that cannot be prepared says so, and is not left behind', async () => {
    const seen: string[] = []
    const prepare = (dir: string) => {
      seen.push(dir)
      throw new Error('no git')
    }
    const { conforms, tools } = await conformance((dir) => [saveFile(dir)], { prepare })
    expect(conforms).toBe(false)
    expect(check(tools[0] as ToolReport, 'examples')?.why).toContain('no git')
    await expect(readdir(seen[0] as string)).rejects.toThrow('ENOENT')
  })

  it('whose path a tool shows is a leak, and the report does not repeat it', async () => {
    const { tools } = await conformance((dir) => [saveFile(dir, (error) => new ToolFailure((error as Error).message))])
    expect(failing(tools[0] as ToolReport)).toEqual(['no_leak'])
    expect(JSON.stringify(tools)).not.toContain('conformance-')
  })

  it('a write that changes nothing is odd, not wrong', async () => {
    const idle = (dir: string): Tool => ({ ...saveFile(dir), execute: () => ok('done') })
    const { tools } = await conformance((dir) => [idle(dir)])
    expect(check(tools[0] as ToolReport, 'effect')).toMatchObject({ outcome: 'pass', why: expect.stringContaining('suspicious') })
  })
})
