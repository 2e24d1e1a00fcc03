/** The package needs only the standard web globals, and adds little to a bundle with core and repair. */
import { fileURLToPath } from 'node:url'
import { createContext, runInContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { build, type Rolldown } from 'vite'
import { beforeAll, describe, expect, it } from 'vitest'

/** The most bytes, gzipped, that this package adds to a bundle of core and repair, of which it does not need everything. */
const MAX_MORE_BYTES = 9_100
/** The maximum size of each of the two parts alone, gzipped. */
const MAX_MIDDLEWARE_BYTES = 4_000
const MAX_ENGINE_BYTES = 8_300

const path = (file: string): string => fileURLToPath(new URL(file, import.meta.url))
const INDEX = path('./index.ts')
const MIDDLEWARE = path('./repair-tool-calls.ts')
/** The path of an entry that is not a file. */
const TEXT = path('./entry.ts')
const OURS = {
  '@mulligan/repair': path('../../repair/src/index.ts'),
  '@mulligan/core/executor': path('../../core/src/executor.ts'),
  '@mulligan/core/adapter': path('../../core/src/adapter.ts'),
  '@mulligan/core': path('../../core/src/index.ts'),
}
const GLOBALS = {
  crypto,
  TransformStream,
  ReadableStream,
  TextEncoder,
  TextDecoder,
  AbortController,
  AbortSignal,
  DOMException,
  Headers,
  URL,
  fetch,
  performance,
  setTimeout,
  clearTimeout,
}

interface Options {
  readonly external?: readonly string[]
  readonly format?: 'es' | 'iife'
}

/** @param entry the path or the text of a file */
async function bundled(entry: string, { external = [], format = 'es' }: Options = {}): Promise<Rolldown.OutputChunk> {
  const output = await build({
    configFile: false,
    logLevel: 'error',
    resolve: { alias: external.includes('@mulligan/core') ? {} : OURS },
    plugins: [
      {
        name: 'text',
        enforce: 'pre',
        resolveId: (id) => (id === TEXT ? id : undefined),
        load: (id) => (id === TEXT ? entry : undefined),
      },
    ],
    build: {
      write: false,
      minify: true,
      target: 'es2024',
      rolldownOptions: { external: [...external], output: { minify: true } },
      lib: { entry: entry.startsWith('/') ? entry : TEXT, formats: [format], name: 'sdk' },
    },
  })
  const [one] = output as Rolldown.RolldownOutput[]
  return one?.output[0] as Rolldown.OutputChunk
}

const sizeOf = ({ code }: Rolldown.OutputChunk): number => gzipSync(code).length

describe('the bundle', () => {
  let whole: Rolldown.OutputChunk
  /** Includes the AI SDK. */
  let agent: Rolldown.OutputChunk
  beforeAll(async () => {
    whole = await bundled(INDEX, { external: ['ai'] })
    agent = await bundled(`export * from '${INDEX}'; export { generateText, streamText, tool, jsonSchema } from 'ai'`, { format: 'iife' })
  }, 60_000)

  it('imports nothing but the AI SDK, which is a peer', () => {
    expect([whole.imports, whole.dynamicImports]).toEqual([['ai'], []])
    expect(whole.code).not.toMatch(/node:|\brequire\(|\bprocess\.|\bBuffer\b|new Function/)
  })

  it(`has at most ${MAX_MORE_BYTES} bytes more, gzipped, than core and repair`, async () => {
    const external = ['ai', ...Object.keys(OURS)]
    const base = sizeOf(
      await bundled(
        `export * from '@mulligan/core/executor'; export { defineTool } from '@mulligan/core'; export * from '@mulligan/repair'`,
      ),
    )
    const own = sizeOf(await bundled(INDEX, { external }))
    const middleware = sizeOf(await bundled(MIDDLEWARE, { external }))
    const more = sizeOf(whole) - base
    console.log(`ai-sdk: ${more} bytes gzipped more than core and repair; of its own ${own}, of which the middleware ${middleware}`)
    expect(more).toBeLessThanOrEqual(MAX_MORE_BYTES)
    expect(middleware).toBeLessThanOrEqual(MAX_MIDDLEWARE_BYTES)
    expect(own - middleware).toBeLessThanOrEqual(MAX_ENGINE_BYTES)
  }, 60_000)

  /** Runs a script with the bundle, without access to Node's API. */
  const run = (script: string): Promise<string> => {
    const context = createContext({ ...GLOBALS }, { codeGeneration: { strings: false, wasm: false } })
    runInContext(agent.code, context)
    return runInContext(`(async () => { ${script} })()`, context)
  }

  it('runs a turn', async () => {
    const json = await run(`
      const reply = (content, unified) => ({ content, finishReason: { unified }, usage: { inputTokens: {}, outputTokens: {} }, warnings: [] })
      const prompts = []
      const model = {
        specificationVersion: 'v4', provider: 'p', modelId: 'm', supportedUrls: {},
        doGenerate: async ({ prompt }) => {
          prompts.push(prompt)
          if (prompts.length > 2) return reply([{ type: 'text', text: 'Done.' }], 'stop')
          return reply([{ type: 'tool-call', toolCallId: 'c', toolName: 'Add', input: prompts.length === 1 ? '{"a":"1"}' : '{}' }], 'tool-calls')
        },
      }
      const add = sdk.tool({
        inputSchema: sdk.jsonSchema({ type: 'object', properties: { a: { type: 'number' } }, required: ['a'] }),
        execute: async ({ a }) => a + 1,
      })
      const { text } = await sdk.generateText(sdk.mulligan({ add }, { preset: 'full' }).turn({ model, prompt: 'Go on.' }))
      return JSON.stringify([text, ...prompts.slice(1).map((prompt) => prompt.at(-1).content[0].output.value)])
    `)
    expect(JSON.parse(json)).toEqual(['Done.', 2, expect.stringMatching(/^retry \(validation\): "a" is missing/)])
  })

  it('repairs a stream', async () => {
    const json = await run(`
      const parts = [
        { type: 'text-start', id: 't' },
        { type: 'text-delta', id: 't', delta: '<tool_call>search<arg_key>limit</arg_key><arg_value>5</arg_value></tool_call>' },
        { type: 'text-end', id: 't' },
        { type: 'finish', finishReason: { unified: 'stop' } },
      ]
      const { stream } = await sdk.repairToolCalls().wrapStream({
        model: { specificationVersion: 'v4' },
        params: { tools: [{ type: 'function', name: 'search', inputSchema: { type: 'object', properties: { limit: { type: 'integer' } } } }] },
        doStream: async () => ({ stream: ReadableStream.from(parts) }),
      })
      const seen = []
      for await (const part of stream) seen.push(part)
      return JSON.stringify(seen)
    `)
    expect(JSON.parse(json).slice(-2)).toMatchObject([
      { type: 'tool-call', toolName: 'search', input: '{"limit":5}' },
      { finishReason: { unified: 'tool-calls' } },
    ])
  })

  it('nothing else can be reached there', async () => {
    await expect(run('return process.version')).rejects.toThrow('process is not defined')
  })
})
