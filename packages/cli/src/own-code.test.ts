/** Tests how own tools can affect the command's process, in which they run. */

import { spawnSync } from 'node:child_process'
import { openSync } from 'node:fs'
import { join } from 'node:path'
import { call, say, scriptedModel } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { isAll } from '../../../scripts/test-scope.fixture.ts'
import { BIN, type Ended, place, trusted, using } from '../test/cli.fixture.ts'

const tool = (execute: string, more = ''): string =>
  `${more}\nexport default { name: 'odd', description: 'd', effect: 'read', input: { type: 'object', properties: {} }, execute: ${execute} }`
const only = ({ stdout }: Ended): unknown => JSON.parse(stdout)

describe('a tool that ends the process', () => {
  it.each([
    ['at once', 'async () => process.exit(0)'],
    ['later', 'async () => { setTimeout(() => process.exit(0), 50); await new Promise((done) => setTimeout(done, 5000)) }'],
  ])('%s is a failure that names it', async (_, execute) => {
    using here = trusted(place({ '.mulligan/tools/odd.mjs': tool(execute) }))
    await using model = await scriptedModel([call('odd', {}), call('odd', {})])
    const json = await here.run(['Hi', '--json', ...using(model)])
    expect([json.code, only(json)]).toEqual([1, { error: { message: 'the tool odd ended the process', hint: expect.any(String) } }])
    expect(json.stderr).toContain('mulligan: the tool odd ended the process\n')
    const text = await here.run(['Hi', ...using(model)])
    expect([text.code, text.stdout]).toEqual([1, ''])
    expect(text.stderr).toContain('the tool odd ended the process')
  })

  it.each([
    ['list', ['tools', 'list', '--json']],
    ['call', ['tools', 'call', 'read_file', '{}', '--json']],
  ])('when it is loaded: %s', async (_, args) => {
    using here = trusted(place({ '.mulligan/tools/odd.mjs': 'process.exit(0)' }))
    const ended = await here.run(args)
    expect(ended.code).toBe(1)
    expect(only(ended)).toMatchObject({ error: { message: `the loading of ${join('.mulligan', 'tools', 'odd.mjs')} ended the process` } })
  })
})

it.runIf(isAll)('a tool that never finishes loading is left out', async () => {
  using here = trusted(place({ '.mulligan/tools/odd.mjs': 'await new Promise(() => {})' }))
  const { code, stdout, stderr } = await here.run(['tools', 'list'])
  expect([code, stdout]).toEqual([0, expect.stringContaining('read_file')])
  expect(stderr).toMatch(/^Left out: .*odd\.mjs: it did not finish loading within 10 s\.$/m)
})

it('what is left out is told without escape sequences', async () => {
  using here = trusted(place({ '.mulligan/tools/odd.mjs': `throw new Error('a\\u001b[2Jb\\u0007')` }))
  await using model = await scriptedModel([say('Yes.')])
  for (const args of [
    ['Hi', ...using(model)],
    ['tools', 'call', 'list_dir', '{}'],
    ['tools', 'list'],
  ]) {
    const { stderr } = await here.run(args)
    expect(stderr).toContain('odd.mjs: ab.')
    expect(stderr).not.toMatch(/[\u001b\u0007]/)
  }
})

describe('what a tool prints', () => {
  const PRINTS = tool(
    `() => { console.log('one'); console.info('two'); process.stdout.write('three\\n'); return 'result' }`,
    `console.log('zero')`,
  )
  const printed = /^zero\none\ntwo\nthree$/m

  it('is on stderr, and stdout has one object or the answer', async () => {
    using here = trusted(place({ '.mulligan/tools/odd.mjs': PRINTS }))
    await using model = await scriptedModel([0, 1, 2].flatMap(() => [call('odd', {}), say('Yes.')]))
    const json = await here.run(['Hi', '--json', ...using(model)])
    expect(only(json)).toMatchObject({ answer: 'Yes.' })
    expect(json.stderr).toMatch(printed)
    const stream = await here.run(['Hi', '--json-stream', ...using(model)])
    for (const line of stream.stdout.trimEnd().split('\n')) expect(JSON.parse(line)).toBeTypeOf('object')
    expect((await here.run(['Hi', ...using(model)])).stdout).toBe('Yes.\n')
    const called = await here.run(['tools', 'call', 'odd', '{}', '--json'])
    expect(only(called)).toMatchObject({ ok: true, data: 'result' })
    expect(called.stderr).toMatch(printed)
    expect((await here.run(['tools', 'call', 'odd', '{}'])).stdout).toBe('result\n')
  })
})

it.runIf(process.platform === 'linux')('a stdout that takes no more is a failure', () => {
  using here = place()
  const full = openSync('/dev/full', 'w')
  const { status, stderr } = spawnSync(process.execPath, [BIN, 'tools', 'list', '--json'], {
    cwd: here.dir,
    stdio: ['ignore', full, 'pipe'],
  })
  expect([status, String(stderr)]).toEqual([1, 'mulligan: the result could not be written to stdout: ENOSPC\n'])
})

describe('the folder of own tools', () => {
  const WRITES = `import { readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
const here = basename(process.cwd())
export default {
  name: 'notes', description: 'd', effect: 'write', input: { type: 'object', properties: {}, additionalProperties: false },
  execute: () => { writeFileSync('out.txt', readFileSync('in.txt')); return here },
}`

  it('is --cwd, in a turn and in a call', async () => {
    using here = trusted(place({ 'sub/.mulligan/tools/notes.mjs': WRITES, 'sub/in.txt': 'x' }), 'sub')
    await using model = await scriptedModel([call('notes', {}), say('Yes.')])
    const called = await here.run(['tools', 'call', 'notes', '{}', '--yes', '--json', '--cwd', 'sub'])
    expect(only(called)).toMatchObject({ ok: true, data: 'sub' })
    expect([here.has('sub/out.txt'), here.has('out.txt')]).toEqual([true, false])
    const run = await here.run(['Hi', '--yes', '--json', '--cwd', 'sub', ...using(model)])
    expect(only(run)).toMatchObject({ calls: [{ tool: 'notes', result: { ok: true } }] })
  })
})

describe.skipIf(process.platform === 'win32')('folders that do not exist', () => {
  it('the one to work in was deleted', () => {
    using here = place({ 'sub/a': '' })
    const command = `cd sub && rm -r ../sub && ${JSON.stringify(process.execPath)} ${JSON.stringify(BIN)} tools list`
    const { status, stderr } = spawnSync('sh', ['-c', command], { cwd: here.dir, encoding: 'utf8' })
    expect([status, stderr]).toEqual([2, expect.stringContaining('the current folder no longer exists')])
  })
})
