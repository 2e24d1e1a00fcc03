/** What a server reports about a model before it is used: `POST /api/show`. */

import type { Sampling } from '../profiles.ts'
import { countIn, type Fields, fieldsOf, type Get, listIn, NoAnswer, textIn } from '../servers/get.ts'
import type { Thinking } from './body.ts'

export interface Shown {
  /** Tokens the model was trained for. */
  readonly contextLength?: number
  /** `num_ctx` in its Modelfile. */
  readonly numCtx?: number
  /** The sampling options that its Modelfile sets. */
  readonly sampled?: readonly (keyof Sampling)[]
  /** Absent if the server is too old to report them. */
  readonly capabilities?: ReadonlySet<string>
  /** How to request thinking, if the model can think. */
  readonly thinking?: Thinking
  /** Host that the model runs on, if the server only forwards requests to it: a "cloud" model. */
  readonly remoteHost?: string
}

/** `absent`: the server does not have the model; `others` lists those it has. `silent`: the server does not answer. */
export type Asked =
  | { readonly kind: 'shown'; readonly shown: Shown }
  | { readonly kind: 'absent'; readonly others: readonly string[] }
  | { readonly kind: 'silent'; readonly why: string }

/**
 * Asks the server about a model. If the server is too old to answer, or there is a proxy in front of it, nothing is known: the request
 * itself will show.
 */
export async function askFor(model: string, get: Get): Promise<Asked> {
  try {
    return { kind: 'shown', shown: parseShown(await get('/api/show', { model })) }
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error
    if (error.kind === 'absent' || error.status === undefined) return { kind: 'silent', why: error.message }
    const others = error.status === 404 ? await names(get, '/api/tags').catch(() => undefined) : undefined
    return others ? { kind: 'absent', others } : { kind: 'shown', shown: {} }
  }
}

/** Finds a model that is in memory or being loaded, and its context in tokens; older servers do not report the context. @throws NoAnswer */
export async function inMemory(model: string, get: Get) {
  const listed = listIn(await get('/api/ps'), 'models').find((one) => fullName(nameOf(one) ?? '') === fullName(model))
  return listed && { contextLength: countIn(listed, 'context_length') }
}

/** Completes a name: `x` means `x:latest`. */
const fullName = (name: string): string => (/:[^/]*$/.test(name) ? name : `${name}:latest`)

const names = async (get: Get, path: string): Promise<string[]> => listIn(await get(path), 'models').flatMap((model) => nameOf(model) ?? [])

const nameOf = (model: Fields): string | undefined => textIn(model, 'name') ?? textIn(model, 'model')

export function parseShown(answer: unknown): Shown {
  const shown = fieldsOf(answer)
  const info = fieldsOf(shown['model_info'])
  const contextLength = countIn(info, `${textIn(info, 'general.architecture')}.context_length`)
  const parameters = textIn(shown, 'parameters') ?? ''
  const numCtx = numCtxOf(parameters)
  const sampled = SAMPLED.filter(([name]) => new RegExp(`^\\s*${name}\\s`, 'm').test(parameters)).map(([, key]) => key)
  const capabilities = Array.isArray(shown['capabilities']) ? new Set(shown['capabilities'].map(String)) : undefined
  const remoteHost = textIn(shown, 'remote_host')
  return {
    ...(contextLength && { contextLength }),
    ...(numCtx && { numCtx }),
    ...(sampled.length > 0 && { sampled }),
    ...(capabilities && { capabilities }),
    ...(capabilities?.has('thinking') && { thinking: thinkingOf(fieldsOf(shown['thinking'])['values']) }),
    ...(remoteHost && { remoteHost }),
  }
}

/** Reads how thinking is requested. Older servers do not say: they accept `true`. */
function thinkingOf(values: unknown): Thinking {
  if (!Array.isArray(values)) return { onTrue: true, levels: [] }
  return { onTrue: values.includes(true), levels: values.filter((value) => typeof value === 'string') }
}

const SAMPLED: readonly (readonly [name: string, key: keyof Sampling])[] = [
  ['temperature', 'temperature'],
  ['top_p', 'topP'],
  ['top_k', 'topK'],
  ['min_p', 'minP'],
  ['presence_penalty', 'presencePenalty'],
  ['frequency_penalty', 'frequencyPenalty'],
]

/** Finds the line for `num_ctx`, such as `num_ctx                        8192`. */
const numCtxOf = (parameters: string): number | undefined => {
  const [, value] = /^\s*num_ctx\s+(\d+)\s*$/m.exec(parameters) ?? []
  return value === undefined ? undefined : Number(value)
}
