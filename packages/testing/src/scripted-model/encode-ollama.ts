/** A turn as Ollama's own API sends it: a JSON object a line. */
import { pieces, type ResolvedTurn, type ResponseMeta, type SseEvent } from './encode.ts'
import type { Json } from './json.ts'
import { capabilities, contextLength, fullName, type OllamaModel, type OllamaState } from './ollama.ts'

/** The lines of a streamed reply. That of a call comes in pieces, so that it can break within. */
export function encodeOllama(turn: ResolvedTurn, meta: ResponseMeta): SseEvent[] {
  const line = (message: Json): string =>
    `${JSON.stringify({ ...header(meta), message: { role: 'assistant', ...message }, done: false })}\n`
  const events: SseEvent[] = []
  for (const piece of pieces(turn.reasoning, 4)) events.push({ data: line({ content: '', thinking: piece }) })
  for (const piece of turn.text) events.push({ data: line({ content: piece }), mark: 'text' })
  for (const call of toolCalls(turn))
    for (const [at, piece] of pieces(line({ content: '', tool_calls: [call] }), 3).entries())
      events.push({ data: piece, mark: at === 0 ? 'call-start' : 'call' })
  events.push({ data: `${JSON.stringify({ ...header(meta), message: { role: 'assistant', content: '' }, ...ending(turn) })}\n` })
  return events
}

/** The body of a reply that is not streamed. */
export function ollamaBody(turn: ResolvedTurn, meta: ResponseMeta): object {
  const message = {
    role: 'assistant',
    content: turn.text.join(''),
    ...(turn.reasoning !== '' && { thinking: turn.reasoning }),
    ...(turn.calls.length > 0 && { tool_calls: toolCalls(turn) }),
  }
  return { ...header(meta), message, ...ending(turn) }
}

const toolCalls = ({ calls }: ResolvedTurn): Json[] =>
  calls.map(({ id, name, input }, index) => ({ ...(id !== '' && { id }), function: { index, name: name ?? '', arguments: input } }))

const header = ({ model, created }: ResponseMeta): Json => ({ model, created_at: new Date(created * 1000).toISOString() })

/** A count of 0 is left out, as Ollama does. */
const ending = ({ finish, usage: { input, output } }: ResolvedTurn): Json => ({
  done: true,
  done_reason: finish,
  total_duration: 1_000_000,
  load_duration: 1000,
  ...(input > 0 && { prompt_eval_count: input }),
  prompt_eval_duration: 1000,
  ...(output > 0 && { eval_count: output }),
  eval_duration: 1000,
})

/** The answers to `GET /api/tags`, `/api/ps` and `/api/version`; `undefined` for another route. */
export function ollamaList(route: string, state: OllamaState): object | undefined {
  if (route === '/api/version') return { version: state.version }
  if (route === '/api/tags') return { models: state.all().map((model) => listed(model)) }
  if (route !== '/api/ps') return undefined
  return {
    models: state.loaded().map(([model, numCtx]) => ({
      ...listed(model),
      expires_at: new Date(0).toISOString(),
      size_vram: model.size ?? SIZE,
      context_length: numCtx,
    })),
  }
}

/** The answer to `POST /api/show`. */
export function ollamaShow(model: OllamaModel): object {
  return {
    modelfile: `FROM ${model.name}`,
    parameters: Object.entries(model.parameters ?? {})
      .map(([key, value]) => `${key.padEnd(30)} ${value}`)
      .join('\n'),
    template: '{{ .Prompt }}',
    details: details(),
    model_info: { 'general.architecture': 'scripted', 'scripted.context_length': contextLength(model) },
    capabilities: capabilities(model),
    ...(model.remoteHost !== undefined && { remote_host: model.remoteHost, remote_model: model.name }),
  }
}

const SIZE = 1_000_000_000
const details = (): Json => ({ parent_model: '', format: 'gguf', family: 'scripted', parameter_size: '8B', quantization_level: 'Q4_K_M' })
const listed = ({ name, size = SIZE }: OllamaModel): Json => ({
  name: fullName(name),
  model: fullName(name),
  modified_at: new Date(0).toISOString(),
  size,
  digest: 'scripted',
  details: details(),
})
