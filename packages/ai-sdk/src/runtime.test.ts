/** The package runs where there is nothing but the web's standard globals, and costs a bundle little beside `@mulligan/repair`. */
import { fileURLToPath } from 'node:url'
import { createContext, runInContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { build, type Rolldown } from 'vite'
import { beforeAll, describe, expect, it } from 'vitest'

/** What this package may cost beside `@mulligan/repair`, gzipped. */
const MAX_OWN_BYTES = 5_000
const GLOBALS = { crypto, TransformStream, ReadableStream, TextEncoder, TextDecoder }
const REPAIR = fileURLToPath(new URL('../../repair/src/index.ts', import.meta.url))

async function bundled(entry: string, external: readonly string[] = []): Promise<Rolldown.OutputChunk> {
  const output = await build({
    configFile: false,
    logLevel: 'error',
    resolve: { alias: external.length > 0 ? {} : { '@mulligan/repair': REPAIR } },
    build: {
      write: false,
      minify: true,
      target: 'es2024',
      rolldownOptions: { external: [...external] },
      lib: { entry, formats: [external.length > 0 ? 'es' : 'iife'], name: 'sdk' },
    },
  })
  const [one] = output as Rolldown.RolldownOutput[]
  return one?.output[0] as Rolldown.OutputChunk
}

const INDEX = fileURLToPath(new URL('./index.ts', import.meta.url))
const sizeOf = ({ code }: Rolldown.OutputChunk): number => gzipSync(code).length

describe('the bundle', () => {
  let whole: Rolldown.OutputChunk
  beforeAll(async () => {
    whole = await bundled(INDEX)
  })

  it('imports nothing', () => {
    expect([whole.imports, whole.dynamicImports]).toEqual([[], []])
    expect(whole.code).not.toMatch(/node:|\brequire\(|\bprocess\.|\bBuffer\b|new Function/)
  })

  it(`has at most ${MAX_OWN_BYTES} bytes of its own, gzipped`, async () => {
    const own = sizeOf(await bundled(INDEX, ['@mulligan/repair']))
    console.log(`ai-sdk: ${own} bytes gzipped of its own, ${sizeOf(whole)} with repair`)
    expect(own).toBeLessThanOrEqual(MAX_OWN_BYTES)
  })

  it('mends a stream', async () => {
    const context = createContext({ ...GLOBALS }, { codeGeneration: { strings: false, wasm: false } })
    runInContext(whole.code, context)
    const json = await runInContext(
      `(async () => {
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
      })()`,
      context,
    )
    expect(JSON.parse(json).slice(-2)).toMatchObject([
      { type: 'tool-call', toolName: 'search', input: '{"limit":5}' },
      { finishReason: { unified: 'tool-calls' } },
    ])
  })
})
