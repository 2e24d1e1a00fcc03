/** The same scripted model and tool for all rivals: `steps` replies, each except the last with one call. */
import { type AgentModel, type AgentOptions, createAgent, type Store } from '@mulligan/agent'
import { mulligan } from '@mulligan/ai-sdk'
import { defineTool } from '@mulligan/core'
import { generateText, isStepCount, streamText, tool } from 'ai'
import { convertArrayToReadableStream, MockLanguageModelV4 } from 'ai/test'
import { z } from 'zod'

const PROMPT = 'Look at the files.'
const usage = {
  inputTokens: { total: 100, noCache: 100, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 20, text: 20, reasoning: 0 },
}
const finish = (unified: 'stop' | 'tool-calls') => ({ unified, raw: unified })

/** @param onRequest is called when a request arrives, in order. @param said the words before each call, streamed one by one */
export function scriptedModel(steps: number, onRequest: () => void = () => undefined, said: readonly string[] = []): MockLanguageModelV4 {
  let step = 0
  const next = () => {
    onRequest()
    step++
    return step >= steps
      ? { text: 'Done.', reason: finish('stop') }
      : {
          call: {
            type: 'tool-call' as const,
            toolCallId: `id-${step}`,
            toolName: 'look',
            input: JSON.stringify({ path: `src/${step}.ts` }),
          },
          reason: finish('tool-calls'),
        }
  }
  return new MockLanguageModelV4({
    doGenerate: async () => {
      const { call, reason } = next()
      const before = said.length > 0 ? [{ type: 'text' as const, text: said.join('') }] : []
      return {
        content: [...(call ? [...before, call] : [{ type: 'text' as const, text: 'Done.' }])],
        finishReason: reason,
        usage,
        warnings: [],
      }
    },
    doStream: async () => {
      const { call, reason } = next()
      return {
        stream: convertArrayToReadableStream([
          { type: 'stream-start', warnings: [] },
          ...(call ? [...(said.length > 0 ? textParts(said) : []), call] : [...textParts(['Done.'])]),
          { type: 'finish', finishReason: reason, usage },
        ]),
      }
    },
  })
}

const textParts = (deltas: readonly string[]) => [
  { type: 'text-start' as const, id: '0' },
  ...deltas.map((delta) => ({ type: 'text-delta' as const, id: '0', delta })),
  { type: 'text-end' as const, id: '0' },
]

const input = z.object({ path: z.string() })
const execute = ({ path }: { readonly path: string }): string => path
const ours = [defineTool({ name: 'look', description: 'Does nothing.', effect: 'read', input, execute })]
const theirs = { look: tool({ description: 'Does nothing.', inputSchema: input, execute }) }

export async function runOurs(model: MockLanguageModelV4, steps: number, store: Store): Promise<void> {
  const scripted: AgentModel = { id: 'mock/mock', model, where: 'this machine', contextTokens: 1_000_000 }
  const options: AgentOptions = {
    model: scripted,
    tools: ours,
    store,
    cwd: '/workspace',
    limits: { requests: steps + 1, calls: steps + 1 },
  }
  const { status, requests } = await createAgent(options).run({ prompt: PROMPT })
  expectSteps(`${status} `, status === 'answered' ? requests : 0, steps)
}

const engine = mulligan(theirs)

/** The settings of a turn, plain or adopted. */
function settingsOf(model: MockLanguageModelV4, steps: number, isAdopted: boolean) {
  const settings = { model, prompt: PROMPT, stopWhen: isStepCount(steps), maxRetries: 0 }
  return isAdopted ? engine.turn(settings) : { ...settings, tools: theirs }
}

export async function runGenerateText(model: MockLanguageModelV4, steps: number, isAdopted = false): Promise<void> {
  const { steps: done } = await generateText(settingsOf(model, steps, isAdopted))
  expectSteps('', done.length, steps)
}

export async function runStreamText(model: MockLanguageModelV4, steps: number, isAdopted = false): Promise<void> {
  const result = streamText(settingsOf(model, steps, isAdopted))
  await result.consumeStream()
  expectSteps('', (await result.steps).length, steps)
}

function expectSteps(how: string, done: number, steps: number): void {
  if (done !== steps) throw new Error(`the turn ended ${how}after ${done} steps, not ${steps}`)
}
