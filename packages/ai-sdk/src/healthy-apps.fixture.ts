/** Small apps, each for one feature of the AI SDK, and a model that makes no mistakes in them. */
import { call, calls, type Script, type ScriptedTurn, say, think } from '@mulligan/testing'
import { dynamicTool, hasToolCall, isStepCount, jsonSchema, Output, type ToolSet, tool } from 'ai'
import { z } from 'zod'

export interface App {
  readonly tools: ToolSet
  /** What `generateText`, `streamText` and `ToolLoopAgent` are given besides the model and the tools. */
  readonly settings?: object
  readonly script: Script
}

const many = { stopWhen: isStepCount(10) }
const done = say('Done.')
const none = z.object({})
const weather = () =>
  tool({
    description: 'The weather in a city.',
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }) => ({ city, degrees: city.length * 3 }),
  })
const lisbon = (id = 'w1') => call('weather', { city: 'Lisbon' }, { id })
const returns = (value: unknown, more: object = {}) => tool({ inputSchema: none, execute: async () => value, ...more })
/** One tool without parameters, called once. */
const one = (made: ToolSet[string], settings: object = many): App => ({
  tools: { get: made },
  settings,
  script: [call('get', {}, { id: 'g1' }), done],
})
const asked = (settings: object, script: Script = [lisbon(), done]): App => ({
  tools: { weather: weather() },
  settings,
  script,
})
/** An agent goes on where `generateText` stops after one step. */
const first =
  (turn: ScriptedTurn): Script =>
  (_, n) =>
    n === 1 ? turn : done
const says = (text: string): App => asked(many, [say(text)])
const repeated = (times: number): readonly ScriptedTurn[] =>
  Array.from({ length: times }, (_, at) => call('status', { job: 7 }, { id: `s${at}` }))

function polling(answer: (poll: number) => unknown): App {
  let polls = 0
  return {
    tools: { status: tool({ inputSchema: z.object({ job: z.int() }), execute: async () => answer(++polls) }) },
    settings: many,
    script: [...repeated(6), done],
  }
}

/** New for each run, because some have state. */
export const APPS: Readonly<Record<string, () => App>> = {
  'a text': () => says('Hello, world.'),
  'instructions and a temperature': () => asked({ system: 'Be brief.', temperature: 0.5, maxOutputTokens: 100 }, [say('Hi.')]),
  'a history with results': () =>
    asked(
      {
        prompt: undefined,
        messages: [
          { role: 'user', content: 'Weather?' },
          { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'a', toolName: 'weather', input: { city: 'Oslo' } }] },
          {
            role: 'tool',
            content: [{ type: 'tool-result', toolCallId: 'a', toolName: 'weather', output: { type: 'json', value: { degrees: 1 } } }],
          },
          { role: 'user', content: 'And in Lisbon?' },
        ],
        ...many,
      },
      [lisbon(), done],
    ),
  'one step by default': () => asked({}, first(lisbon())),
  'several steps': () => asked(many, [lisbon('w1'), call('weather', { city: 'Rome' }, { id: 'w2' }), done]),
  'text beside a call': () => asked(many, [{ ...lisbon(), text: 'Let me look.' }, done]),
  'parallel calls': () =>
    asked(many, [
      {
        calls: [
          { name: 'weather', input: { city: 'Oslo' }, id: 'p1' },
          { name: 'weather', input: { city: 'Rome' }, id: 'p2' },
        ],
      },
      done,
    ]),
  'the same call twice at once': () =>
    asked(many, [
      {
        calls: [
          { name: 'weather', input: { city: 'Oslo' }, id: 'p1' },
          { name: 'weather', input: { city: 'Oslo' }, id: 'p2' },
        ],
      },
      done,
    ]),
  'two tools': () => ({
    tools: { weather: weather(), time: returns('12:30') },
    settings: many,
    script: [
      {
        calls: [...(calls(['weather', { city: 'Oslo' }]).calls as []), { name: 'time', id: 't1' }].map((made, at) => ({
          ...made,
          id: `c${at}`,
        })),
      },
      done,
    ],
  }),
  'a required choice': () => asked({ toolChoice: 'required', stopWhen: isStepCount(1) }, [lisbon()]),
  'a named choice': () => asked({ toolChoice: { type: 'tool', toolName: 'weather' }, stopWhen: isStepCount(1) }, [lisbon()]),
  'no choice': () => asked({ toolChoice: 'none' }, [say('I cannot look.')]),
  'active tools': () => ({
    tools: { weather: weather(), time: returns('12:30') },
    settings: { ...many, activeTools: ['weather'] },
    script: [lisbon(), done],
  }),
  'a prepared step': () =>
    asked({ ...many, prepareStep: ({ stepNumber }: { stepNumber: number }) => (stepNumber > 0 ? { toolChoice: 'none' } : {}) }),
  'a stop at a tool': () => asked({ stopWhen: hasToolCall('weather') }, [lisbon()]),
  'a stop at a step': () => asked({ stopWhen: isStepCount(2) }, [lisbon('w1'), lisbon('w2')]),
  'structured output': () =>
    asked({ ...many, output: Output.object({ schema: z.object({ degrees: z.number() }) }) }, [lisbon(), say('{"degrees":18}')]),
  'a choice as output': () => asked({ output: Output.choice({ options: ['sun', 'rain'] }) }, [say('{"result":"rain"}')]),
  reasoning: () => asked(many, [think('I have to look.', lisbon()), think('It is warm.', say('Warm.'))]),
  'a tool of the client': () => ({
    tools: { ask: tool({ inputSchema: z.object({ question: z.string() }) }) },
    script: [call('ask', { question: 'When?' }, { id: 'q' })],
  }),
  'an approval by setting': () => asked({ ...many, toolApproval: { weather: 'user-approval' } }, [lisbon()]),
  'an approval by the tool': () => ({
    tools: { weather: { ...weather(), needsApproval: async ({ city }: { city: string }) => city === 'Lisbon' } as ToolSet[string] },
    settings: many,
    script: [lisbon()],
  }),
  'a denial': () => asked({ ...many, toolApproval: { weather: { type: 'denied', reason: 'not today' } } }),
  'a dynamic tool': () => one(dynamicTool({ inputSchema: none, execute: async () => ({ found: 1 }) })),
  'a JSON Schema': () => ({
    tools: {
      get: tool({
        inputSchema: jsonSchema<{ id?: number }>({ type: 'object', properties: { id: { type: 'integer' } }, additionalProperties: false }),
        execute: async (input) => input,
      }),
    },
    settings: many,
    script: [call('get', { id: 7, other: true }, { id: 'g1' }), call('get', { id: 'seven' }, { id: 'g2' }), done],
  }),
  'a result of an MCP server that is an error': () => one(returns({ content: [{ type: 'text', text: 'no such file' }], isError: true })),
  'a result that describes a failure': () => one(returns({ success: false, error: 'no rows' })),
  'a result that is not JSON': () => one(returns({ at: new Date(0), nothing: undefined })),
  'no result': () => one(returns(undefined)),
  'a long result': () => one(returns('word '.repeat(9000))),
  'an output for the model': () =>
    one(
      returns('aGk=', {
        toModelOutput: ({ output }: { output: string }) => ({
          type: 'content',
          value: [
            { type: 'text', text: 'The picture:' },
            { type: 'text', text: output },
          ],
        }),
      }),
    ),
  'a generator': () =>
    one(
      tool({
        inputSchema: none,
        async *execute() {
          yield { done: 1 }
          yield { done: 2 }
        },
      }),
    ),
  'an instructive exception': () =>
    one(
      tool({
        inputSchema: none,
        execute: async (): Promise<string> => Promise.reject(new RangeError('no such column nme; did you mean name?')),
      }),
    ),
  'exceptions that repeat': () => ({
    tools: {
      get: tool({ inputSchema: z.object({ n: z.int() }), execute: async (): Promise<string> => Promise.reject(new Error('busy')) }),
    },
    settings: many,
    script: [...[1, 2, 3, 4, 5].map((n) => call('get', { n }, { id: `g${n}` })), done],
  }),
  'defaults and transforms': () => ({
    tools: {
      plan: tool({
        inputSchema: z.object({ day: z.string().transform((day) => day.toUpperCase()), limit: z.int().default(5) }),
        execute: async (input) => input,
      }),
    },
    settings: many,
    script: [call('plan', { day: 'monday' }, { id: 'p1' }), done],
  }),
  'an extra argument': () => asked(many, [call('weather', { city: 'Lisbon', unit: 'C' }, { id: 'w1' }), done]),
  'a refined input': () =>
    asked({ ...many, experimental_refineToolInput: { weather: ({ city }: { city: string }) => ({ city: city.trim() }) } }, [
      call('weather', { city: ' Lisbon ' }, { id: 'w1' }),
      done,
    ]),
  contexts: () => ({
    tools: {
      scoped: tool({ inputSchema: none, contextSchema: z.object({ user: z.string() }), execute: async (_, { context }) => context.user }),
    },
    settings: { ...many, toolsContext: { scoped: { user: 'ann' } }, runtimeContext: { tenant: 'a' } },
    script: [call('scoped', {}, { id: 's1' }), done],
  }),
  'a job that is polled': () => polling((poll) => ({ state: poll < 6 ? 'running' : 'finished', poll })),
  'a job that is polled and does not change': () => polling(() => ({ state: 'running' })),
  'time limits': () => asked({ ...many, timeout: { toolMs: 5000 }, abortSignal: new AbortController().signal }),
  'a tag in prose': () => says('I write <think> tags in docs. They mark what a model plans.'),
  'a call in an example': () =>
    says('Send it like this:\n```json\n{"name": "weather", "arguments": {"city": "Oslo"}}\n```\nThen read the answer.'),
  'an announcement': () => says("I'll keep an eye on the weather."),
  'code with markup': () => says('Use `<tool_call>` in templates; <b>bold</b> and {"a": [1, 2]} stay as they are.\n\n- one\n- two\n'),
}
