/** What goes wrong between a model and its tools, and what becomes of it in an app of the AI SDK. */
import { call, calls, lastToolResults, type Script, type ScriptedTurn, say, scriptedModel } from '@mulligan/testing'
import { generateText, isStepCount, type ToolSet, tool } from 'ai'
import { z } from 'zod'
import { glm } from './agent.fixture.ts'
import { type MulliganOptions, mulligan } from './index.ts'
import { modelOf } from './mulligan.fixture.ts'

export interface Fault {
  readonly script: Script
  readonly execute?: (input: { readonly query: string; readonly limit?: number | undefined }) => unknown
  readonly options?: MulliganOptions
  /** Milliseconds after which the app aborts. */
  readonly abortMs?: number
}

/** The app gives up after this many requests. */
const MOST = 8
const right = call('search', { query: 'tea', limit: 3 })
const done = say('Done.')
/** A model that makes a mistake once, and calls properly if it is told what was wrong. */
const once =
  (wrong: ScriptedTurn): Script =>
  (request, n) => {
    if (n === 1) return wrong
    const told = lastToolResults(request).map(({ text }) => text)
    return n === 2 && told.some((text) => /^retry|AI_|rror/.test(text)) ? right : done
  }
/** A model that makes the same call again and again, until it may not. */
const stuck =
  (turn: ScriptedTurn): Script =>
  ({ body }) =>
    (body as { readonly tool_choice?: unknown }).tool_choice === 'none' ? done : turn

export const FAULTS: Readonly<Record<string, Fault>> = {
  'another case of the tool name': { script: once(call('Search', { query: 'tea', limit: 3 })) },
  'an unknown tool': { script: once(call('find_notes', { query: 'tea' })) },
  'a number as text': { script: once(call('search', { query: 'tea', limit: '3' })) },
  'broken JSON': { script: once(call('search', '{"query": "tea", "limit": 3,}')) },
  'a missing parameter': { script: once(call('search', { limit: 3 })) },
  'a call in the text': { script: once(say(glm('search', { query: 'tea', limit: '3' }))) },
  'a call that is only announced': {
    script: (_, n) => (n === 1 ? say('I will now search the notes.') : n === 2 ? right : done),
  },
  'a reply cut off in a call': { script: once(call('search', '{"query": "te', { finish: 'length' })) },
  'two calls with one id': {
    script: (_, n) =>
      n === 1
        ? {
            calls: [
              { name: 'search', input: { query: 'tea' }, id: 'same' },
              { name: 'search', input: { query: 'milk' }, id: 'same' },
            ],
          }
        : done,
  },
  'the same wrong call again and again': { script: stuck(call('search', { limit: 3 })) },
  'the same call again and again': { script: stuck(right) },
  'a tool that hangs': {
    script: (_, n) => (n === 1 ? right : done),
    execute: () => new Promise((resolve) => setTimeout(resolve, 3000, 'late')),
    options: { tools: { search: { timeout: 0.1 } }, graceMs: 1 },
  },
  'an exception with a password': {
    script: (_, n) => (n === 1 ? right : done),
    execute: () => Promise.reject(new Error('no answer from postgres://ann:hunter2@db')),
  },
  'a result of 90,000 characters': { script: (_, n) => (n === 1 ? right : done), execute: () => 'word '.repeat(18_000) },
  'parallel calls, one of them wrong': {
    script: (_, n) => (n === 1 ? calls(['search', { query: 'tea' }], ['search', { query: 1 }]) : done),
  },
  'the server: status 500': { script: [say('', { fault: { status: 500 } })] },
  'the server: a refused connection': { script: [say('', { fault: { refuse: true } })] },
  'the server: a reply cut in its text': { script: [say('Hello', { fault: { cut: 'mid-text' } })] },
  'the server: a reply cut in a call': { script: [{ ...right, fault: { cut: 'mid-call' } }] },
  'the server: an error in the stream': { script: [say('Hello', { fault: { error: 'overloaded' } })] },
  'the server: a reply that never ends': { script: [say('Hello', { fault: { hang: 'mid-text' } })], abortMs: 300 },
  'the server: a slow reply': { script: [say('Hello', { fault: { slow: 5 } })] },
}

/** The outcome in a few words. `without`: the AI SDK alone. */
export async function outcomeOf({ script, execute, options, abortMs }: Fault, preset: 'without' | 'gentle' | 'full'): Promise<string> {
  await using server = await scriptedModel(script)
  let ran = 0
  const tools: ToolSet = {
    search: tool({
      description: 'Searches the notes.',
      inputSchema: z.object({ query: z.string(), limit: z.int().optional() }),
      execute: async (input) => {
        ran++
        return execute ? execute(input) : `found ${input.query}`
      },
    }),
  }
  const settings = {
    model: modelOf(server),
    prompt: 'Search.',
    stopWhen: isStepCount(MOST),
    maxRetries: 0,
    ...(abortMs && { abortSignal: AbortSignal.timeout(abortMs) }),
  }
  const engine = mulligan(tools, {
    defaults: { effect: 'read' },
    log: () => undefined,
    ...options,
    ...(preset !== 'without' && { preset }),
  })
  const started = performance.now()
  const text = await generateText(preset === 'without' ? { ...settings, tools } : engine.turn(settings)).then(
    (result) => result.text,
    () => undefined,
  )
  const bodies = server.requests.map(({ bodyText }) => bodyText)
  const results = bodies.flatMap((body) => body.match(/"tool_call_id":"same"/g)?.length ?? 0)
  const words = [
    `${ran} run${ran === 1 ? '' : 's'}`,
    `${bodies.length} request${bodies.length === 1 ? '' : 's'}`,
    text === undefined ? 'an exception' : text === '' ? 'no answer' : 'an answer',
    ...(bodies.some((body) => body.includes('hunter2')) ? ['the password sent'] : []),
    ...(bodies.some((body) => body.length > 60_000) ? ['90,000 characters sent'] : []),
    ...(results.some((count) => count > 1) ? ['one id for two results'] : []),
    ...(performance.now() - started > 2500 ? ['waits for the tool'] : []),
  ]
  return words.join(', ')
}
