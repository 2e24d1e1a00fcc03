/** The package runs where there is nothing but the web's standard globals: edge runtimes, browsers, Bun, Deno. */
import { fileURLToPath } from 'node:url'
import { createContext, runInContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { build, type Rolldown } from 'vite'
import { beforeAll, describe, expect, it } from 'vitest'

/** What this package may cost a page, with all of it in use and what it uses of repair: its own part, and the whole. */
const MAX_OWN_BYTES = 21_500
const MAX_BYTES = 32_400
const GLOBALS = { setTimeout, clearTimeout, AbortController, AbortSignal, performance }

let bundle: Rolldown.OutputChunk

async function bundled(format: 'iife' | 'es', external: string[] = []): Promise<Rolldown.OutputChunk> {
  const output = await build({
    configFile: false,
    logLevel: 'error',
    resolve:
      external.length > 0 ? {} : { alias: { '@mulligan/repair': fileURLToPath(new URL('../../repair/src/index.ts', import.meta.url)) } },
    build: {
      write: false,
      minify: true,
      target: 'es2024',
      rolldownOptions: { external },
      lib: { entry: fileURLToPath(new URL('./index.ts', import.meta.url)), formats: [format], name: 'core' },
    },
  })
  const [one] = output as Rolldown.RolldownOutput[]
  return one?.output[0] as Rolldown.OutputChunk
}

beforeAll(async () => {
  bundle = await bundled('iife')
})

/** Runs a script over the bundle where no Node API can be reached and no code made from text. */
function run(script: string): Promise<unknown> {
  const context = createContext({ ...GLOBALS }, { codeGeneration: { strings: false, wasm: false } })
  runInContext(bundle.code, context)
  return runInContext(`(async () => { ${script} })()`, context)
}

describe('the bundle', () => {
  it('imports nothing', () => {
    expect(bundle.imports).toEqual([])
    expect(bundle.dynamicImports).toEqual([])
    expect(bundle.code).not.toMatch(/node:|\brequire\(|\bprocess\.|\bBuffer\b|new Function/)
  })

  it(`has at most ${MAX_BYTES} bytes, gzipped, and ${MAX_OWN_BYTES} without repair`, async () => {
    const size = gzipSync(bundle.code).length
    const own = gzipSync((await bundled('es', ['@mulligan/repair'])).code).length
    console.log(`core: ${size} bytes gzipped, ${own} of its own`)
    expect(size).toBeLessThanOrEqual(MAX_BYTES)
    expect(own).toBeLessThanOrEqual(MAX_OWN_BYTES)
  })

  it('takes a call through prepare, execute and render', async () => {
    const texts = await run(`
      const tool = core.defineTool({
        name: 'add', description: 'Adds.', effect: 'read',
        input: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'], additionalProperties: false },
        execute: ({ a, b }, { signal }) => { signal.throwIfAborted(); return a + b },
      })
      const executor = core.createExecutor({ tools: [tool], maxResultTokens: 100 })
      const texts = []
      for (const [step, [name, input]] of [['Add', '{"a": "1", "b": 2}'], ['add', { a: 1 }], ['sub', {}], ['add', '{']].entries()) {
        const prepared = await executor.prepare({ id: 'c' + step, step, ordinal: 0, name, input })
        const record = prepared.kind === 'ready' ? await executor.execute(prepared.call) : prepared.record
        texts.push(core.render(record.result))
      }
      return JSON.stringify(texts)
    `)
    const [added, missing, unknown, malformed] = JSON.parse(texts as string)
    expect(added).toBe('3')
    expect(missing).toMatch(/^retry \(validation\): "b" is missing: it must be a number/)
    expect(unknown).toMatch(/^retry \(unknown_tool\)/)
    expect(malformed).toMatch(/^retry \(malformed_call\)/)
  })

  it('cuts off a tool that hangs', async () => {
    const text = await run(`
      const hangs = core.defineTool({
        name: 'hangs', description: 'Hangs.', effect: 'read', timeout: 0.01, input: { type: 'object' }, execute: () => new Promise(() => {}),
      })
      const executor = core.createExecutor({ tools: [hangs], graceMs: 1 })
      const { call } = await executor.prepare({ id: 'c', step: 1, ordinal: 0, name: 'hangs', input: {} })
      return core.render((await executor.execute(call)).result)
    `)
    expect(text).toMatch(/^failed \(timeout\)/)
  })

  it('the sandbox of this test lets nothing else through', async () => {
    await expect(run('return process.version')).rejects.toThrow('process is not defined')
    await expect(run('return new Function("return 1")()')).rejects.toThrow(/Code generation from strings/)
  })
})
