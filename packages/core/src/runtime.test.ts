/** Checks that the package runs with only the web's standard globals: edge runtimes, browsers, Bun, Deno. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createContext, runInContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { build, type Rolldown } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const GLOBALS = { setTimeout, clearTimeout, AbortController, AbortSignal, performance, crypto }
const entry = (path: string): string => JSON.stringify(fileURLToPath(new URL(path, import.meta.url)))
const CORE = entry('./index.ts')
const EXECUTOR = entry('./executor.ts')
const REPAIR = entry('../../repair/src/index.ts')
const dir = mkdtempSync(join(tmpdir(), 'mulligan-bundle-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

let bundle: Rolldown.OutputChunk

async function bundled(code: string): Promise<Rolldown.OutputChunk> {
  const file = join(dir, 'entry.js')
  writeFileSync(file, code)
  const output = await build({
    configFile: false,
    logLevel: 'error',
    resolve: { alias: { '@mulligan/repair': JSON.parse(REPAIR) } },
    build: { write: false, minify: true, target: 'es2024', lib: { entry: file, formats: ['iife'], name: 'core' } },
  })
  const [one] = output as Rolldown.RolldownOutput[]
  return one?.output[0] as Rolldown.OutputChunk
}

beforeAll(async () => {
  bundle = await bundled(`export * from ${CORE}; export * from ${EXECUTOR}`)
})

/** Runs a script over the bundle without Node APIs or code generation from strings. */
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

  it.each([
    ['an executor and its tools', `export { createExecutor } from ${EXECUTOR}; export { defineTool, render } from ${CORE}`, 33_750],
    ['startTurn', `export { startTurn, openaiChat, defineTool } from ${CORE}`, 38_400],
    [
      'startTurn with one family',
      `import { glm } from ${REPAIR}; import { leakedCalls } from ${CORE}; export { startTurn, openaiChat, defineTool } from ${CORE}; export const leaks = leakedCalls([glm])`,
      54_050,
    ],
    [
      'startTurn with every family',
      `import { families } from ${REPAIR}; import { leakedCalls } from ${CORE}; export { startTurn, openaiChat, defineTool } from ${CORE}; export const leaks = leakedCalls(families)`,
      66_450,
    ],
  ])('%s: its size, gzipped', async (what, code, most) => {
    const size = gzipSync((await bundled(code)).code).length
    console.log(`core, ${what}: ${size} bytes gzipped`)
    expect(size).toBeLessThanOrEqual(most)
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

  it('takes a turn to its answer', async () => {
    const text = await run(`
      const add = core.defineTool({ name: 'add', description: 'Adds.', effect: 'read', input: { type: 'object' }, execute: ({ a, b }) => a + b })
      const turn = core.startTurn({ api: core.openaiChat, tools: [add] })
      const call = { id: 'c', type: 'function', function: { name: 'add', arguments: '{"a":1,"b":2}' } }
      const { messages } = await turn.reply({ message: { role: 'assistant', content: null, tool_calls: [call] } })
      return messages.at(-1).content + (await turn.reply({ message: { role: 'assistant', content: '!' } })).text
    `)
    expect(text).toBe('3!')
  })

  it('the sandbox of this test lets nothing else through', async () => {
    await expect(run('return process.version')).rejects.toThrow('process is not defined')
    await expect(run('return new Function("return 1")()')).rejects.toThrow(/Code generation from strings/)
  })
})
