/** Runs the examples in the docs of the AI SDK plain and with the engine: with a healthy model, nothing differs. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { type ScriptedModel, scriptedModel } from '@mulligan/testing'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { ROOT } from '../packages/pack.ts'
import { type OfficialExample, officialExamples } from './official-examples.ts'
import { createRunner, globalsFor, healthyTurn, NotRun, type Run, type Runner } from './official-runs.ts'

/** Those that run; the others need packages, services or names of their reader. */
const RUN = 58

const NAMES = [
  ...readFileSync(new URL('./files/official-examples.d.ts', import.meta.url), 'utf8').matchAll(/const (\w+): (?:AnyTool|Either)$/gm),
]
const examples = officialExamples(join(ROOT, 'node_modules/ai/docs'))
let server: ScriptedModel
let runner: Runner
beforeAll(async () => {
  server = await scriptedModel(healthyTurn)
  runner = createRunner(ROOT, server, (file) => import(/* @vite-ignore */ file))
  vi.stubEnv('OPENAI_BASE_URL', server.url)
  vi.stubEnv('ANTHROPIC_BASE_URL', `${server.anthropicUrl}/v1`)
  for (const key of ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY']) vi.stubEnv(key, 'none')
  const provider = createOpenAICompatible({ name: 'scripted', baseURL: server.url, includeUsage: true, supportsStructuredOutputs: true })
  vi.stubGlobal('AI_SDK_DEFAULT_PROVIDER', provider)
  const globals = globalsFor(
    provider('scripted-model'),
    NAMES.map(([, name = '']) => name),
  )
  for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value)
  // Some tools call services.
  const { fetch } = globalThis
  vi.stubGlobal('fetch', (input: string | URL | Request, init?: RequestInit) => {
    if (new URL(input instanceof Request ? input.url : String(input)).hostname !== '127.0.0.1')
      throw new TypeError('There is no network here.')
    return fetch(input, init)
  })
  vi.spyOn(Math, 'random').mockReturnValue(0.5)
  vi.useFakeTimers({ toFake: ['Date'], now: 0 })
  for (const method of ['log', 'info', 'warn', 'error', 'table'] as const) vi.spyOn(console, method).mockImplementation(() => undefined)
})
afterAll(async () => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
  vi.unstubAllEnvs()
  runner?.[Symbol.dispose]()
  await server?.close()
})

/** The examples that run without the engine, by name. The others are listed with the reason. */
async function runs(): Promise<ReadonlyMap<OfficialExample, Run>> {
  const ran = new Map<OfficialExample, Run>()
  const others: string[] = []
  for (const one of examples)
    try {
      ran.set(one, await runner.run(`plain-${one.name}`, one.plain))
    } catch (error) {
      others.push(`${one.name}: ${error instanceof NotRun ? error.message : String(error).split('\n')[0]}`)
    }
  process.stdout.write(`${ran.size} of ${examples.length} examples run. The others:\n${others.join('\n')}\n`)
  return ran
}

/** The names of those that do something else with the engine than without. */
async function differing(
  ran: ReadonlyMap<OfficialExample, Run>,
  kind: string,
  change = (text: string) => text,
): Promise<readonly string[]> {
  const names: string[] = []
  for (const [{ name, adopted }, before] of ran) {
    const after = await runner.run(`${kind}-${name}`, change(adopted)).catch(String)
    if (JSON.stringify(after) !== JSON.stringify(before)) names.push(name)
  }
  return names
}

const IMPORT = `import { mulligan } from '@mulligan/ai-sdk'`
const LIMITED = `${IMPORT.replace('mulligan', 'mulligan as engine')}
const mulligan = (tools) => engine(tools, { limits: { requests: 1 } })`

it('those that run do the same with the engine, and control: not with a limit', async () => {
  const ran = await runs()
  expect(ran.size).toBe(RUN)
  expect(await differing(ran, 'adopted')).toEqual([])
  expect(await differing(ran, 'limited', (text) => text.replace(IMPORT, LIMITED))).toHaveLength(RUN)
})
