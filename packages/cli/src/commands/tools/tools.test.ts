import { readdirSync } from 'node:fs'
import { builtInTools, readSettings } from '@mulligan/host/parts'
import { call, say, scriptedModel } from '@mulligan/testing'
import { createWorkspace } from '@mulligan/tools'
import { describe, expect, it } from 'vitest'
import { isAll } from '../../../../../scripts/test-scope.fixture.ts'
import { place, trusted, using } from '../../../test/cli.fixture.ts'

const SCHEMA = `{ type: 'object', properties: { id: { type: 'string' } }, required: ['id'] }`
const GOOD = `import { defineTool, ModelRetry } from 'mulligan'
const known = { a1: 'first' }
export default defineTool({
  name: 'lookup', description: 'Finds an entry.', effect: 'read', input: ${SCHEMA},
  examples: [
    { outcome: 'ok', input: { id: 'a1' } },
    { outcome: 'retry', input: { id: 'a2' } },
  ],
  execute: ({ id }) => {
    if (!Object.hasOwn(known, id))
      throw new ModelRetry('There is no such entry.', { errorType: 'not_found', parameter: 'id', value: id, constraint: 'a known id', suggestion: 'a1' })
    return known[id]
  },
})
`
/** A tool that throws an exception containing a secret for a wrong id. */
const BAD = `export default {
  name: 'leaky', description: 'Finds an entry.', effect: 'read', input: ${SCHEMA},
  examples: [{ outcome: 'ok', input: { id: 'a1' } }, { outcome: 'retry', input: { id: 'a2' } }],
  execute: ({ id }) => { if (id !== 'a1') throw new Error('no row, password=hunter2'); return 'first' },
}
`
const NAMES = builtInTools(createWorkspace('.'), { settings: readSettings('.', {}, { HOME: '/' }), env: {} }).tools.map(({ name }) => name)

describe('tools list', () => {
  it('has the built-in ones, the own ones, and what was left out', async () => {
    using here = trusted(place({ '.mulligan/tools/lookup.ts': GOOD, '.mulligan/tools/broken.mjs': 'export default (' }))
    const { code, stdout, stderr } = await here.run(['tools', 'list'])
    expect(code).toBe(0)
    expect(stdout.split('\n').map((line) => line.split(' ')[0])).toEqual(['TOOL', ...NAMES, 'lookup', ''])
    expect(stdout).toMatch(/^lookup +read +own +Finds an entry\.$/m)
    expect(stderr).toMatch(/^Left out: \.mulligan.tools.broken\.mjs: it does not parse/)
  })

  it('--json', async () => {
    using here = trusted(place({ '.mulligan/tools/grep.mjs': BAD.replace('leaky', 'grep') }))
    const { code, stdout } = await here.run(['tools', 'list', '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      tools: NAMES.map((name) => ({ name, source: 'built-in', effect: expect.any(String), description: expect.any(String) })),
      problems: [{ file: 'grep.mjs', error: expect.stringContaining('built-in') }],
    })
  })

  it('looks in the folder that is named', async () => {
    using here = trusted(place({ 'sub/.mulligan/tools/lookup.ts': GOOD }), 'sub')
    expect((await here.run(['tools', 'list', '--cwd', 'sub'])).stdout).toContain('lookup')
    expect((await here.run(['tools', 'list'])).stdout).not.toContain('lookup')
  })
})

describe('tools show', () => {
  it('says all there is of a tool, by an alias too', async () => {
    using here = place()
    const { code, stdout } = await here.run(['tools', 'show', 'cat'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^read_file\n/)
    expect(stdout).toMatch(/^effect +read$/m)
    expect(stdout).toMatch(/^timeout +\d+ s$/m)
    expect(stdout).toMatch(/^retries +3$/m)
    expect(stdout).toMatch(/^aliases +.*\bcat\b/m)
    expect(stdout).toMatch(/"properties": \{/)
    expect(stdout).toMatch(/^ {2}retry +\{"path"/m)
  })

  it('--json', async () => {
    using here = place()
    const { stdout } = await here.run(['tools', 'show', 'grep', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({
      name: 'grep',
      effect: 'read',
      inputSchema: { type: 'object' },
      aliases: expect.arrayContaining(['ripgrep']),
    })
  })
})

describe('tools call', () => {
  it('prints what a model would read', async () => {
    using here = place({ 'a.txt': 'hello\n' })
    const { code, stdout, stderr } = await here.run(['tools', 'call', 'read_file', '{"file_path":"a.txt"}'])
    expect([code, stdout]).toEqual([0, expect.stringContaining('hello')])
    expect(stderr).toBe('Repaired: file_path → path\n')
  })

  it.each([
    [
      'a wrong value',
      ['read_file', '{"path":"b.txt"}'],
      '',
      { ok: false, status: 'retry', errorType: 'not_found', details: { suggestion: 'a.txt' } },
    ],
    ['broken JSON', ['read_file', '{"path"'], '', { ok: false, status: 'retry', errorType: 'malformed_call' }],
    ['an unknown tool', ['reed_file', '{}'], '', { ok: false, status: 'retry', errorType: 'unknown_tool' }],
    [
      'an effect nobody allows',
      ['write_file', '{"path":"c.txt","content":"x"}'],
      '',
      { ok: false, status: 'denied', errorType: 'permission' },
    ],
    ['an effect that is allowed', ['write_file', '{"path":"c.txt","content":"x"}', '--yes'], '', { ok: true }],
    ['input from stdin', ['read_file', '-'], '{"path":"a.txt"}', { ok: true }],
  ])('%s', async (name, args, stdin, result) => {
    using here = place({ 'a.txt': 'hello\n' })
    const { code, stdout } = await here.run(['tools', 'call', ...args, '--json'], { stdin })
    expect(JSON.parse(stdout)).toMatchObject(result)
    expect(code).toBe(result.ok ? 0 : 1)
    expect(here.has('c.txt')).toBe(name === 'an effect that is allowed')
  })

  it('replaces a file that the person sees, when they say so; a model would have to read it first', async () => {
    using here = place({ 'a.txt': 'old\n' })
    const input = { path: 'a.txt', content: 'new\n' }
    const held = await here.run(['tools', 'call', 'write_file', JSON.stringify(input), '--yes'])
    expect([held.code, held.stdout]).toEqual([1, expect.stringContaining('"a.txt" exists.')])
    const { code, stdout } = await here.run(['tools', 'call', 'write_file', JSON.stringify({ ...input, overwrite: true }), '--yes'])
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^Replaced a\.txt/)])
    here.write('a.txt', 'old\n')
    await using model = await scriptedModel([call('write_file', { ...input, overwrite: true }), say('No.')])
    const run = JSON.parse((await here.run(['Hi', '--yes', '--json', ...using(model)])).stdout)
    expect(run.calls[0].result).toMatchObject({ status: 'retry', error: '"a.txt" exists and was not read yet.' })
  })

  it('says how to allow what nobody allowed', async () => {
    using here = place()
    const { code, stdout, stderr } = await here.run(['tools', 'call', 'write_file', '{"path":"c.txt","content":"x"}'])
    expect([code, stdout]).toEqual([1, expect.stringMatching(/^denied \(permission\)/)])
    expect(stderr).toContain('--yes')
  })
})

/** Works in its working folder. */
const NOTES = `import { readFileSync, writeFileSync } from 'node:fs'
export default {
  name: 'notes', description: 'd', effect: 'write', input: { type: 'object', properties: {}, additionalProperties: false },
  examples: [{ outcome: 'ok', input: {}, files: { 'in.txt': 'x' } }],
  execute: () => { writeFileSync('out.txt', readFileSync('in.txt')); return 'done' },
}`

describe.concurrent('tools audit', () => {
  it('is a table of what each tool does in a temporary folder, and passes', async () => {
    using here = trusted(place({ '.mulligan/tools/lookup.ts': GOOD, '.mulligan/tools/notes.mjs': NOTES }))
    const { code, stdout } = await here.run(['tools', 'audit'])
    expect(stdout).toMatch(/^TOOL +FOUND +EMPTY +WRONG +FAILING +CONFORMS$/m)
    for (const name of [...NAMES, 'lookup', 'notes']) expect(stdout).toMatch(new RegExp(`^${name} +ok.* yes$`, 'm'))
    expect(stdout).not.toContain('✗')
    expect(code).toBe(0)
    expect(readdirSync(here.dir)).toEqual(['.mulligan'])
  })

  it.runIf(isAll).each([
    ['a tool that does not conform', { '.mulligan/tools/leaky.mjs': BAD }, /^leaky .* NO$/m],
    ['a file that can’t be loaded', { '.mulligan/tools/broken.mjs': 'export default (' }, /broken\.mjs: it does not parse/],
    ['a name that is taken', { '.mulligan/tools/x.mjs': BAD.replace('leaky', 'grep') }, /x\.mjs: it defines "grep"/],
  ])('exits 1 for %s', async (_, files, says) => {
    using here = trusted(place(files as Record<string, string>))
    const { code, stdout } = await here.run(['tools', 'audit'])
    expect([code, stdout]).toEqual([1, expect.stringMatching(says)])
  })

  it('--json', async () => {
    using here = trusted(place({ '.mulligan/tools/leaky.mjs': BAD }))
    const { code, stdout } = await here.run(['tools', 'audit', '--json'])
    expect(code).toBe(1)
    const report = JSON.parse(stdout) as { conforms: boolean; tools: { tool: string; conforms: boolean }[] }
    expect(report.conforms).toBe(false)
    expect(report.tools.filter((one) => !one.conforms).map((one) => one.tool)).toEqual(['leaky'])
    expect(stdout).not.toContain('hunter2')
  })
})
