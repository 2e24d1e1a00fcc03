/** What servers with OpenAI's API share: their address, and `GET /v1/models`. */
import { UsageError } from '../../common/errors.ts'
import { normalBaseUrl } from '../base-url.ts'
import { countIn, type Fields, fieldsOf, listIn, textIn } from './fields.ts'
import type { Get } from './get.ts'
import type { FoundModel } from './server.ts'

/** An address without `/v1`. @throws UsageError that names the variable */
export function serverAddress(given: string | undefined, port: number, variable: string): string {
  const url = given?.trim() || `http://127.0.0.1:${port}`
  try {
    return withoutV1(normalBaseUrl(url))
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(`${variable}: ${error.message}`, error.hint)
    throw error
  }
}

export const withoutV1 = (baseUrl: string): string => baseUrl.replace(/\/v1$/, '')

/** @throws NoAnswer */
export async function openAiModels(get: Get, provider: string): Promise<readonly FoundModel[]> {
  return listIn(await get('/v1/models'), 'data').flatMap((model) => {
    const name = textIn(model, 'id')
    return name === undefined ? [] : [{ provider, name, ...contextIn(model), ...stateIn(model) }]
  })
}

/** vLLM and SGLang say `max_model_len`; llama.cpp `meta.n_ctx` in newer builds. */
function contextIn(model: Fields): Pick<FoundModel, 'contextTokens' | 'bytes'> {
  const meta = fieldsOf(model['meta'])
  const contextTokens = countIn(model, 'max_model_len') ?? countIn(meta, 'n_ctx')
  const bytes = countIn(meta, 'size')
  return { ...(contextTokens && { contextTokens }), ...(bytes && { bytes }) }
}

/** A server of several models says which are in memory; one of one model has it there. */
function stateIn(model: Fields): Pick<FoundModel, 'loaded'> {
  const value = textIn(fieldsOf(model['status']), 'value')
  return value === undefined ? {} : { loaded: value === 'loaded' }
}
