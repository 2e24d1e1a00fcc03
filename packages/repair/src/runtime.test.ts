/** The package runs with only the web's standard globals, and importing one family adds only that family's code. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createContext, runInContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { build, type Rolldown } from 'vite'
import { afterAll, describe, expect, it } from 'vitest'

const INDEX = fileURLToPath(new URL('./index.ts', import.meta.url))
const dir = mkdtempSync(join(tmpdir(), 'mulligan-bundle-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

async function bundled(code: string): Promise<Rolldown.OutputChunk> {
  const entry = join(dir, 'entry.js')
  writeFileSync(entry, code.replace(`'repair'`, JSON.stringify(INDEX)))
  const output = await build({
    configFile: false,
    logLevel: 'error',
    build: { write: false, minify: true, target: 'es2024', lib: { entry, formats: ['iife'], name: 'bundle' } },
  })
  const [one] = output as Rolldown.RolldownOutput[]
  return one?.output[0] as Rolldown.OutputChunk
}

describe('what it costs, gzipped', () => {
  it.each([
    ['all of it', `export * from 'repair'`, 58_450],
    ['parseToolCalls', `export { parseToolCalls } from 'repair'`, 40_750],
    ['one family', `import { glm, parseWith } from 'repair'\nexport const parse = (text, tools) => parseWith([glm], text, tools)`, 28_420],
    ['repairArguments', `export { repairArguments } from 'repair'`, 13_700],
    ['repairFetch', `export { repairFetch } from 'repair'`, 5_970],
  ])('%s', async (what, code, most) => {
    const { code: text, imports, dynamicImports } = await bundled(code)
    const size = gzipSync(text).length
    console.log(`repair, ${what}: ${size} bytes gzipped`)
    expect([imports, dynamicImports]).toEqual([[], []])
    expect(text).not.toMatch(/node:|\brequire\(|\bprocess\.|\bBuffer\b|new Function/)
    expect(size).toBeLessThanOrEqual(most)
  })

  it('one family leaves the others out', async () => {
    const { code } = await bundled(
      `import { glm, parseWith } from 'repair'\nexport const parse = (text, tools) => parseWith([glm], text, tools)`,
    )
    expect(code).toContain('arg_key')
    expect(code).not.toContain('[TOOL_CALLS]"')
    expect(code).not.toContain('tool_call_argument_begin')
  })
})

it('reads a call where no code can be made from text, and there is no Node', async () => {
  const { code } = await bundled(`export * from 'repair'`)
  const context = createContext({ TextDecoder, TextEncoder }, { codeGeneration: { strings: false, wasm: false } })
  runInContext(code, context)
  const tools = JSON.stringify([
    { name: 'search', effect: 'read', parameters: { type: 'object', properties: { limit: { type: 'integer' } } } },
  ])
  const read = runInContext(
    `JSON.stringify(bundle.parseToolCalls('<tool_call>search<arg_key>limit</arg_key><arg_value>5</arg_value></tool_call>', ${tools}).calls[0].arguments)`,
    context,
  )
  expect(read).toBe('{"limit":5}')
})
