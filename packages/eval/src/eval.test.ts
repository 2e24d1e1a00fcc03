/** The whole eval with a model that has planted faults: the report must match the faults exactly. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { call, say, scriptedModel, type TurnFunction } from '@mulligan/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { sandboxThere } from '../../host/src/tools/sandbox.fixture.ts'
import type { Arm } from './arms/arm.ts'
import { planOf } from './go.ts'
import { type EvalRunOptions, openEval } from './open.ts'
import type { EvalOptions } from './options.ts'
import { type Fault, type Plan, policy } from './policy.fixture.ts'
import type { EvalReport } from './report.ts'
import { keyOf } from './results.ts'
import { evalTasks, TASKS } from './tasks/index.ts'

const there = await sandboxThere()
const dir = mkdtempSync(join(tmpdir(), 'mulligan-eval-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

type Options = Partial<EvalOptions> & Pick<EvalRunOptions, 'concurrency'>

interface Ended {
  /** As the command's exit code: 0 if every run was made. */
  readonly code: number
  readonly report: EvalReport
}

async function evaluate({ concurrency, ...options }: Options): Promise<Ended> {
  const evaluation = await openEval({ cwd: dir, env: { HOME: dir }, version: '0.0.0', ...options })
  const report = await evaluation.run({ concurrency, signal: new AbortController().signal })
  return { code: report.complete ? 0 : 1, report }
}

async function against(turn: TurnFunction, options: Options): Promise<Ended> {
  await using model = await scriptedModel(turn)
  const ended = await evaluate({ model: 'planted', baseUrl: model.url, ...options })
  expect(model.violations).toEqual([])
  return ended
}

const PLAN: Plan = {
  'value-in-file': 'number as text',
  'value-by-search': 'number as text',
  'count-lines': 'number as text',
  'count-matches': 'number as text',
  'page-of-long-file': 'number as text',
  'search-read-edit': 'number as text',
  'edit-crlf': 'leaked call',
  'edit-second-of-two': 'leaked call',
  'json-flag': 'leaked call',
  'move-file': 'leaked call',
  'create-file': { name: 'create_file' },
  'missing-file': { name: 'ReadFile' },
  'run-command': { name: 'functions.Bash' },
  'json-number': 'bad json',
  'remove-function': 'bad json',
  'wrong-path': 'wrong path',
  'wrong-extension': 'wrong path',
  'edit-one-line': 'wrong path',
  'unicode-name': 'same call',
  'long-output': 'same call',
  'count-files': 'empty',
  'leading-zeros': 'false claim',
  'create-json': 'false claim',
  'search-no-hit': 'learns',
  'rename-symbol': 'patient',
}

/** The arms that overcome each fault, according to what the arms promise rather than to their code. */
const OVERCOME: { readonly [Kind in Extract<Fault, string> | 'name']: readonly Arm[] } = {
  'number as text': ['repair', 'full'],
  'leaked call': ['repair', 'full'],
  name: ['repair', 'full'],
  'bad json': ['repair', 'full'],
  'wrong path': ['full'],
  'same call': ['full'],
  empty: ['full'],
  'false claim': [],
  learns: ['bare', 'repair', 'full'],
  patient: ['bare', 'repair'],
}
const ALL: readonly Arm[] = ['bare', 'repair', 'full']
const overcome = (task: string): readonly Arm[] => {
  const fault = PLAN[task]
  return fault === undefined ? ALL : OVERCOME[typeof fault === 'object' ? 'name' : fault]
}
const tasks = TASKS.filter(({ shell }) => there || !shell).map(({ id }) => id)
const planned = (arm: Arm): number => tasks.filter((id) => overcome(id).includes(arm)).length
const only = (arm: Arm, than: Arm): number => tasks.filter((id) => overcome(id).includes(arm) && !overcome(id).includes(than)).length

describe.skipIf(!there)('all tasks in all arms', () => {
  it('the report is the plan of faults, in every figure', async () => {
    const { code, report } = await against(policy(PLAN), { maxRequests: 10, concurrency: 2 })
    expect(code).toBe(0)
    expect([report.complete, report.planned, report.measured]).toEqual([true, 90, 90])
    expect(ALL.map(planned)).toEqual([7, 22, 27])
    for (const { task, arms } of report.tasks)
      expect([task, ALL.filter((arm) => arms[arm]?.succeeded === 1)]).toEqual([task, ALL.filter((arm) => overcome(task).includes(arm))])
    expect(report.arms.map(({ arm, succeeded, measured }) => [arm, succeeded, measured])).toEqual(ALL.map((arm) => [arm, planned(arm), 30]))
    expect(report.differences.map(({ arm, than, better, worse, verdict }) => [arm, than, better, worse, verdict])).toEqual([
      ['repair', 'bare', only('repair', 'bare'), only('bare', 'repair'), 'better'],
      ['full', 'bare', only('full', 'bare'), only('bare', 'full'), 'better'],
      ['full', 'repair', only('full', 'repair'), only('repair', 'full'), 'too few to tell'],
    ])
    expect(report.differences.map(({ difference }) => Math.round(difference * 30))).toEqual([15, 20, 5])
    const kinds = { type: 6, envelope: 4, name: 2, json: 2, alias: 1 }
    expect(report.arms.map(({ repaired }) => repaired)).toEqual([{}, kinds, kinds])
    expect(report.madeTheDifference).toEqual([
      { arm: 'repair', runs: 15, withoutRepair: 0, kinds },
      { arm: 'full', runs: 21, withoutRepair: 6, kinds },
    ])
    expect(report.arms.map(({ failures }) => failures['request limit'] ?? 0)).toEqual([2, 2, 0])
  }, 120_000)

  it('a model without faults does all of it in all arms, and no difference is seen', async () => {
    const { code, report } = await against(policy({}), { concurrency: 2 })
    expect(code).toBe(0)
    expect(report.arms.map(({ succeeded, repaired }) => [succeeded, repaired])).toEqual([
      [30, {}],
      [30, {}],
      [30, {}],
    ])
    expect(report.differences.map(({ difference, verdict }) => [difference, verdict])).toEqual(Array(3).fill([0, 'no difference seen']))
    // The same work takes the same number of requests.
    expect(new Set(report.arms.map(({ requests }) => JSON.stringify(requests))).size).toBe(1)
  }, 120_000)
})

/** Two tasks without commands in two arms: 4 runs of 2 requests each, after the initial request that checks the model. */
const SMALL: Options = { tasks: ['value-in-file', 'unicode-name'], arms: ['bare', 'full'] }
const REQUESTS = 1 + 4 * 2
let files = 0
const newFile = (): string => join(dir, `runs-${++files}.jsonl`)
const linesOf = (path: string): string[] => readFileSync(path, 'utf8').split('\n').slice(0, -1)

/** The key is rejected after this many requests. */
const revokedAfter =
  (requests: number): TurnFunction =>
  (request, n) =>
    n > requests ? { fault: { status: 401 } } : policy({})(request, n)

describe('what does not go well', () => {
  it('a server that is gone is told at once, and no run is made', async () => {
    const model = await scriptedModel([])
    await model.close()
    const jsonl = newFile()
    await expect(evaluate({ model: 'gone', baseUrl: model.url, jsonl })).rejects.toThrow(/can't be evaluated.*could not be reached/)
    await expect(
      against(() => ({ fault: { status: 400, body: { error: { message: 'does not support tools' } } } }), { jsonl }),
    ).rejects.toThrow(/does not support tools/)
    expect(() => readFileSync(jsonl)).toThrow(/ENOENT/)
  })

  it('a server that goes away in the middle: what was measured is kept, and continued', async () => {
    const jsonl = newFile()
    const broken = await against(revokedAfter(1 + 3 * 2), { ...SMALL, runs: 3, jsonl })
    expect(broken.code).toBe(1)
    expect([broken.report.complete, broken.report.measured, broken.report.planned]).toEqual([false, 3, 12])
    expect(broken.report.incomplete).toMatch(/^3 of 12 runs were measured: the model’s server did not reply in three consecutive runs/)
    expect(broken.report.arms.map(({ notMeasured }) => notMeasured).reduce((a, b) => a + b)).toBe(3)
    expect(broken.report.arms.every(({ succeeded, measured }) => succeeded === measured)).toBe(true)

    await using model = await scriptedModel(policy({}))
    const again = await evaluate({ model: 'planted', baseUrl: model.url, resume: jsonl })
    expect([again.code, again.report.complete, again.report.measured]).toEqual([0, true, 12])
    expect(model.requests).toHaveLength(1 + 9 * 2)
    expect(linesOf(jsonl)).toHaveLength(1 + 3 + 3 + 9)
    // Resuming again leaves nothing to do.
    const whole = await evaluate({ model: 'planted', baseUrl: model.url, resume: jsonl })
    expect([whole.code, whole.report.arms]).toEqual([0, again.report.arms])
  })

  it('a request that the server refuses is a failure of the arm, and does not end the eval', async () => {
    const { code, report } = await against(
      (request, n) => (n === 2 ? { fault: { status: 400, body: { error: { message: 'no such role' } } } } : policy({})(request, n)),
      SMALL,
    )
    expect([code, report.complete]).toEqual([0, true])
    expect(report.arms.flatMap(({ failures }) => Object.entries(failures))).toEqual([['no usable reply', 1]])
  })

  it('what is wrong in the server’s stream is repaired for the arms that repair, and not for the bare one', async () => {
    const argumentsAsObject: TurnFunction = (request, n) => {
      const turn = policy({})(request, n)
      if (!turn?.calls || n === 1) return turn
      const [{ name, input }] = turn.calls as readonly [{ readonly name: string; readonly input: unknown }]
      const chunk = (delta: object, finish_reason: string | null) =>
        `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'x', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
      const asked = chunk({ tool_calls: [{ index: 0, id: `call_${n}`, type: 'function', function: { name, arguments: input } }] }, null)
      return { raw: `${asked}${chunk({}, 'tool_calls')}data: [DONE]\n\n` }
    }
    const { code, report } = await against(argumentsAsObject, { tasks: ['value-in-file'] })
    expect([code, report.complete]).toEqual([0, true])
    expect(report.arms.map(({ succeeded, failures }) => [succeeded, failures])).toEqual([
      [0, { 'no usable reply': 1 }],
      [1, {}],
      [1, {}],
    ])
    expect(report.arms.map(({ repaired }) => repaired)).toEqual([{}, { wire: 1 }, { wire: 1 }])
  })

  it('the engine’s own words are no answer of the model', async () => {
    const { report } = await against(
      (request, n) =>
        n === 1 ? say('Ready.') : request.bodyText.includes('"tool_choice":"none"') ? say('') : call('read_file', { path: `${n}` }),
      { tasks: ['outside', 'missing-file'], arms: ['full'], maxRequests: 3 },
    )
    expect(report.arms.map(({ failures }) => failures)).toEqual([{ 'request limit': 2 }])
  })

  it('a model that never comes to an end is cut off by the time of a run', async () => {
    const hangs: TurnFunction = (_, n) => (n === 1 ? say('Ready.') : { fault: { hang: true } })
    const { code, report } = await against(hangs, { ...SMALL, timeout: 0.2 })
    expect([code, report.measured]).toEqual([0, 4])
    expect(report.arms.map(({ succeeded, failures }) => [succeeded, failures])).toEqual(Array(2).fill([0, { 'time limit': 2 }]))
  })

  it('a machine without room for more ends the eval, and not with a loss', async () => {
    const before = process.env['TMPDIR']
    const breaks: TurnFunction = (request, n) => {
      if (n === 4) process.env['TMPDIR'] = join(dir, 'not-there')
      return policy({})(request, n)
    }
    try {
      const { code, report } = await against(breaks, SMALL)
      expect([code, report.measured]).toEqual([1, 2])
      expect(report.incomplete).toMatch(/an error stopped the eval: ENOENT/)
    } finally {
      if (before === undefined) delete process.env['TMPDIR']
      else process.env['TMPDIR'] = before
    }
  })

  it('a file that can not be written any more ends the eval, and not with a loss', async () => {
    const jsonl = newFile()
    const breaks: TurnFunction = (request, n) => {
      if (n === 4) {
        rmSync(jsonl)
        mkdirSync(jsonl)
      }
      return policy({})(request, n)
    }
    const { code, report } = await against(breaks, { ...SMALL, jsonl })
    expect([code, report.measured]).toEqual([1, 2])
    expect(report.incomplete).toMatch(/an error stopped the eval: EISDIR/)
  })
})

describe('--resume', () => {
  it('continues wherever the file was cut off', async () => {
    const jsonl = newFile()
    const { report } = await against(policy({}), { ...SMALL, jsonl })
    const text = readFileSync(jsonl, 'utf8')
    const header = text.indexOf('\n') + 1
    const cuts = [header, header + 1, Math.floor((header + text.length) / 2), text.length - 1, text.length]
    for (const cut of cuts) {
      writeFileSync(jsonl, text.slice(0, cut))
      const kept = text.slice(header, cut).split('\n').length - 1
      await using model = await scriptedModel(policy({}))
      const again = await evaluate({ model: 'planted', baseUrl: model.url, resume: jsonl })
      expect([cut, again.code, model.requests.length]).toEqual([cut, 0, REQUESTS - kept * 2])
      expect(again.report.tasks).toEqual(report.tasks)
      expect(linesOf(jsonl).map((line) => (JSON.parse(line) as { type: string }).type)).toEqual(['eval', 'run', 'run', 'run', 'run'])
    }
  })

  it('puts nothing together that was measured under other conditions', async () => {
    await using model = await scriptedModel(policy({}))
    const known = { model: 'planted', baseUrl: model.url }
    const jsonl = newFile()
    await evaluate({ ...known, ...SMALL, jsonl })
    const wrong: readonly (readonly [Options, RegExp])[] = [
      [{ resume: jsonl, model: 'other' }, /begun with the model openai-compatible\/planted, now it is openai-compatible\/other/],
      [{ resume: jsonl, context: 8192 }, /a context of 32768, now it is 8192/],
      [{ resume: jsonl, runs: 2 }, /begun with runs 1, now it is 2/],
      [{ resume: jsonl, arms: ['bare'] }, /the arms bare,full, now it is bare/],
      [{ resume: jsonl, tasks: ['wrong-path'] }, /the tasks value-in-file,unicode-name/],
      [{ resume: join(dir, 'none.jsonl') }, /can't be read: ENOENT/],
      [{ jsonl }, /already exists/],
      [{ jsonl: join(dir, 'no-folder', 'x.jsonl') }, /can't be written: ENOENT/],
    ]
    const before = model.requests.length
    for (const [flags, says] of wrong) await expect(evaluate({ ...known, ...flags })).rejects.toThrow(says)
    expect(model.requests).toHaveLength(before)
    expect((await evaluate({ ...known, resume: jsonl, arms: ['full', 'bare'], runs: 1 })).code).toBe(0)
    const [header, ...runs] = linesOf(jsonl)
    for (const [lines, says] of [
      [['{}', ...runs], /is not the header of an eval/],
      [[], /is not the header of an eval/],
      [[header, runs[0], 'x\u001b[31m'], /line 3 of .* is not a run: x(?!\u001b)/],
      [[header, runs[0]?.replace('"bare"', '"bear"').replace('"full"', '"bear"')], /line 2 of .* is not a run/],
      [[header?.replace(/"fingerprint":"\w+"/, '"fingerprint":"0"'), ...runs], /the tasks 0, now it is/],
    ] as const) {
      writeFileSync(jsonl, lines.map((line) => `${line}\n`).join(''))
      await expect(evaluate({ ...known, resume: jsonl })).rejects.toThrow(says)
    }
  })
})

it('what there is not is told, with the nearest', async () => {
  await expect(evaluate({ tasks: ['wrong-pth'] })).rejects.toThrow(/there is no wrong-pth; did you mean wrong-path\?/)
  await expect(evaluate({ arms: ['bare', 'ful'] })).rejects.toThrow(/did you mean full\?/)
  await expect(evaluate({ tasks: [] })).rejects.toThrow(/names none/)
  expect(evalTasks()).toHaveLength(30)
})

it('the arms of a task come one after another, in an order by the seed', () => {
  const plan = planOf(['a', 'b', 'c', 'd'], ALL, 2, 5)
  expect(new Set(plan.map(keyOf)).size).toBe(24)
  for (let at = 0; at < plan.length; at += 3) {
    const block = plan.slice(at, at + 3)
    expect(new Set(block.map(({ task, run }) => `${task} ${run}`)).size).toBe(1)
    expect(block.map(({ arm }) => arm).toSorted()).toEqual([...ALL].toSorted())
  }
  expect(plan.slice(0, 12).every(({ run }) => run === 1)).toBe(true)
  expect(planOf(['a', 'b', 'c', 'd'], ALL, 2, 5)).toEqual(plan)
  expect(planOf(['a', 'b', 'c', 'd'], ALL, 2, 6)).not.toEqual(plan)
})
