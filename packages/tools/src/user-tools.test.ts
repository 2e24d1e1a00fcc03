import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { loadUserTools } from './index.ts'
import { put, run, temporary } from './workspace.fixture.ts'

const DEFINITION = `{ name: 'NAME', description: 'Says hello.', effect: 'read', input: { type: 'object', properties: {} }, execute: () => ok('hello') }`
const named = (name: string): string => DEFINITION.replace('NAME', name).replace("ok('hello')", "'hello'")

describe('loadUserTools', () => {
  test('every kind of default export', async () => {
    const dir = temporary()
    put(dir, {
      'a.ts': `import { defineTool, ok, type ToolOk } from '@mulligan/core'\nimport { z } from 'zod'\nexport const other: number = 1\nexport default defineTool({ name: 'a', description: 'd', input: z.object({ x: z.number() }), execute: ({ x }): ToolOk<number> => ok(x) })`,
      'b.mjs': `import { ok } from 'mulligan'\nexport default ${DEFINITION.replace('NAME', 'b')}`,
      'c.js': `export default [${named('c1')}, ${named('c2')}]`,
      'd.mjs': `export default ({ defineTool, ok, z }) => defineTool({ name: 'd', description: 'd', input: z.object({}), execute: () => ok('hello') })`,
      'e.mjs': `await Promise.resolve()\nexport default async () => (${named('e')})`,
      'f.js': `module.exports = ${named('f')}`,
      'ignored.txt': '',
      'types.d.ts': '',
    })
    const { tools, problems } = await loadUserTools(dir)
    expect(problems).toEqual([])
    expect(tools.map((tool) => tool.name)).toEqual(['a', 'b', 'c1', 'c2', 'd', 'e', 'f'])
    expect(await run(tools[0] as never, { x: 3 })).toMatchObject({ ok: true, data: 3 })
    expect(await run(tools[1] as never, {})).toMatchObject({ ok: true, data: 'hello' })
  })

  test('a description beside it', async () => {
    const dir = temporary()
    put(dir, { 'a.mjs': `export default ${named('a').replace("description: 'Says hello.',", '')}`, 'a.md': 'From the file.\n' })
    expect((await loadUserTools(dir)).tools[0]?.description).toBe('From the file.')
  })

  test('a broken file is a problem of its own', async () => {
    const dir = temporary()
    put(dir, {
      'a.mjs': 'export default {',
      'b.mjs': 'export const tool = 1',
      'c.mjs': `export default ${named('bad name')}`,
      'd.mjs': `import 'no-such-package'\nexport default ${named('d')}`,
      'e.mjs': `throw new Error('boom\\nstack')`,
      'f.mjs': `export default ${named('good')}`,
      'g.mjs': `export default ${named('good')}`,
      'h.mjs': 'export default 3',
      'i.ts': 'enum A { b }\nexport default A',
    })
    const { tools, problems } = await loadUserTools(dir)
    expect(tools.map((tool) => tool.name)).toEqual(['good'])
    expect(problems.map((problem) => problem.file)).toEqual(['a.mjs', 'b.mjs', 'c.mjs', 'd.mjs', 'e.mjs', 'g.mjs', 'h.mjs', 'i.ts'])
    for (const { error } of problems) {
      expect(error).toMatch(/^[^\n]+[.!?]$/)
      expect(error).not.toContain(dir)
    }
    const errors = Object.fromEntries(problems.map((problem) => [problem.file, problem.error]))
    expect(errors['a.mjs']).toMatch(/^it does not parse: /)
    expect(errors['b.mjs']).toBe('it has no default export.')
    expect(errors['e.mjs']).toBe('boom.')
    expect(errors['g.mjs']).toBe('the tool "good" is defined in f.mjs already.')
  })

  test('whatever is thrown, the others are loaded', async () => {
    const dir = temporary()
    put(dir, {
      'a.mjs': 'throw null',
      'b.mjs': `throw Object.defineProperty(new Error(), 'message', { get() { throw new Error('again') } })`,
      'c.mjs': 'throw Object.create(null)',
      'd.mjs': `export default () => { throw 'plainly' }`,
      'e.mjs': `export default ${named('good')}`,
    })
    const { tools, problems } = await loadUserTools(dir)
    expect(tools.map((tool) => tool.name)).toEqual(['good'])
    expect(problems.map(({ error }) => error)).toEqual([
      'it threw null.',
      'it threw something that can not be shown.',
      'it threw something that can not be shown.',
      'plainly.',
    ])
  })

  test('what merely looks like a tool is checked', async () => {
    const dir = temporary()
    const like = (more: string) =>
      `export default { name: 'x', description: 'd', effect: 'read', inputSchema: { type: 'object' }, check: { check: () => ({ ok: true }) }, execute: () => 1, ${more} }`
    put(dir, {
      'a.mjs': like(`name: 'bad name'`),
      'b.mjs': like(`effect: 'any'`),
      'c.mjs': like(`inputSchema: { type: 'string' }`),
      'd.mjs': like('check: 1'),
      'e.mjs': like('execute: 1'),
      'f.mjs': like('examples: 3'),
      'g.mjs': like('aliases: [null]'),
      'h.mjs': `export default { ...${named('y')}, examples: [3] }`,
      'i.mjs': like(`aliases: ['other']`),
    })
    const { tools, problems } = await loadUserTools(dir)
    expect(problems.map(({ file }) => file)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((name) => `${name}.mjs`))
    expect(tools).toMatchObject([{ name: 'x', timeout: 60, retries: 3, aliases: [{ name: 'other' }], examples: [] }])
  })

  test('a file that never finishes loading is a problem of its own', async () => {
    const dir = temporary()
    put(dir, {
      'a.mjs': 'await new Promise(() => {})',
      'b.mjs': 'export default () => new Promise(() => {})',
      'c.mjs': 'for (;;);',
      'd.ts': 'export default () => { for (;;); }',
      'e.mjs': `export default ${named('good')}`,
    })
    const { tools, problems } = await loadUserTools(dir, { seconds: 1 })
    expect(tools.map((tool) => tool.name)).toEqual(['good'])
    expect(problems.map(({ error }) => error)).toEqual(Array(4).fill('it did not finish loading within 1 s.'))
  })

  test('no folder, no tools', async () => expect(await loadUserTools('/no/such/folder')).toEqual({ tools: [], problems: [] }))

  test('outside a test runner too, without a warning', async () => {
    const dir = temporary()
    put(dir, {
      'a.ts': `import { z } from 'zod'\nimport { ok } from '@mulligan/core'\nexport default { name: 'a', description: 'd', input: z.object({}), execute: (): unknown => ok(1) }`,
    })
    put(dir, { 'b.js': `export default ${named('b')}` })
    const src = (file: string) => JSON.stringify(new URL(`../../core/src/${file}`, import.meta.url).href)
    const hook = `import { registerHooks } from 'node:module'
      const own = { '@mulligan/core': ${src('index.ts')}, '@mulligan/core/executor': ${src('executor.ts')} }
      registerHooks({ resolve: (name, context, next) => next((context.parentURL?.includes('/packages/') && own[name]) || name, context) })`
    const script = `const { loadUserTools } = await import(${JSON.stringify(new URL('user-tools.ts', import.meta.url).href)})
      const { tools, problems } = await loadUserTools(${JSON.stringify(dir)})
      console.log(JSON.stringify([tools.map((tool) => tool.name), problems]))`
    const out = execFileSync(
      process.execPath,
      ['--import', `data:text/javascript,${encodeURIComponent(hook)}`, '--input-type=module', '--eval', script],
      { stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' },
    )
    expect(out.trim()).toBe('[["a","b"],[]]')
  })
})
