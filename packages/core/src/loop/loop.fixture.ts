/** Runs a turn against the scripted model, over HTTP, in each of the provider's formats: whole and streamed. */
import { createOpenAI } from '@ai-sdk/openai'
import { type RecordedRequest, type ScriptedModel, type ScriptedTurn, scriptedModel } from '@mulligan/testing'
import { generateText, type ModelMessage, streamText } from 'ai'
import { aiSdkMessages } from '../api/ai-sdk-messages.ts'
import { anthropicMessages } from '../api/anthropic-messages.ts'
import type { Api } from '../api/api.ts'
import { openaiChat } from '../api/openai-chat.ts'
import { openaiResponses } from '../api/openai-responses.ts'
import type { Step, Turn, TurnOptions } from './options.ts'
import { startTurn } from './start-turn.ts'

// biome-ignore lint/suspicious/noExplicitAny: the loops of four formats in one table
type Any = any
type Options = Omit<TurnOptions<Any, Any, Any, Any>, 'api'>

export interface Format {
  readonly api: Api<Any, Any, Any, Any>
  /** Makes a request; returns the reply, or its stream. */
  readonly send: (server: ScriptedModel, messages: readonly unknown[], request: object, stream: boolean) => Promise<Any>
}

async function post(server: ScriptedModel, path: string, body: object, stream: boolean): Promise<Any> {
  const response = await fetch(server.url + path, {
    method: 'POST',
    headers: { 'x-api-key': 'key', 'anthropic-version': '2023-06-01' },
    body: JSON.stringify({ ...body, stream }),
  })
  if (!response.ok) throw new Error(await response.text())
  return stream ? eventsOf(response) : response.json()
}

/** The events of a stream, as the providers' SDKs parse them. */
async function* eventsOf(response: Response): AsyncGenerator<unknown> {
  let text = ''
  for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece
    const events = text.split('\n\n')
    text = events.pop() ?? ''
    for (const event of events) {
      const data = /^data: (.*)$/m.exec(event)?.[1] ?? ''
      if (data !== '[DONE]') yield JSON.parse(data)
    }
  }
}

const aiSdk: Format['send'] = async (server, messages, request, stream) => {
  const model = createOpenAI({ baseURL: server.url, apiKey: 'key' }).chat('any')
  const settings = { model, messages: messages as ModelMessage[], maxRetries: 0, ...request }
  return stream ? streamText({ ...settings, onError: () => undefined }).fullStream : generateText(settings)
}

export const FORMATS: Readonly<Record<string, Format>> = {
  'chat completions': {
    api: openaiChat,
    send: (server, messages, request, stream) => post(server, '/chat/completions', { model: 'm', messages, ...request }, stream),
  },
  responses: {
    api: openaiResponses,
    send: (server, input, request, stream) => post(server, '/responses', { model: 'm', input, ...request }, stream),
  },
  'Anthropic messages': {
    api: anthropicMessages,
    send: (server, messages, request, stream) => post(server, '/messages', { model: 'm', max_tokens: 99, messages, ...request }, stream),
  },
  'AI SDK messages': { api: aiSdkMessages, send: aiSdk },
}

export const EACH = Object.entries(FORMATS).flatMap(([name, format]) =>
  [false, true].map((stream) => [`${name}, ${stream ? 'streamed' : 'whole'}`, format, stream] as const),
)

export interface Ran {
  readonly steps: readonly Step<unknown>[]
  readonly last: Step<unknown>
  readonly messages: readonly unknown[]
  readonly requests: readonly RecordedRequest[]
  /** The streamed text. */
  readonly streamed: string
}

/**
 * Runs a turn to its end, and sends its messages once more with another message of the user, which the server must accept. Fails if
 * the server refused anything.
 * @param between is called after each step, and returns the turn to go on with
 */
export async function runLoop(
  { api, send }: Format,
  stream: boolean,
  script: readonly ScriptedTurn[],
  options: Options,
  between: (turn: Turn<Any, Any, Any, Any>) => Turn<Any, Any, Any, Any> = (turn) => turn,
): Promise<Ran> {
  await using server = await scriptedModel([...script, { text: 'Next.' }], { toolsRequired: false })
  const messages: unknown[] = [{ role: 'user', content: 'Go.' }]
  const steps: Step<unknown>[] = []
  let streamed = ''
  const onText = (text: string): void => {
    streamed += text
  }
  let turn = startTurn({ api, ...options })
  for (;;) {
    const step = await turn.reply(await send(server, messages, turn.request(), stream), { onText })
    messages.push(...step.messages)
    steps.push(step)
    if (step.done) break
    turn = between(turn)
  }
  await send(server, [...messages, { role: 'user', content: 'And now?' }], startTurn({ api, ...options }).request(), false)
  server.assertDone()
  return { steps, last: steps.at(-1) as Step<unknown>, messages, requests: server.requests.slice(0, -1), streamed }
}
