/** Determines the model when only the address of its server is given. */

import type { Env } from '../common/env.ts'
import { UsageError } from '../common/errors.ts'
import { oneLine } from '../common/sanitize.ts'
import { normalBaseUrl } from './base-url.ts'
import { bearer, createGet, modelNames, NoAnswer } from './servers/get.ts'
import { isChat } from './servers/server.ts'

const MAX_NAMED = 12

/** Returns the name of the server's only model. @throws UsageError that lists the models if there are several */
export async function modelAt(baseUrl: string, env: Env, signal?: AbortSignal): Promise<string> {
  const base = normalBaseUrl(baseUrl)
  const names = (await namesAt(base, env, signal)).filter((name) => isChat({ provider: '', name }))
  const [only, ...others] = names
  if (only === undefined) throw new UsageError(`no model was named, and ${base} lists none`, 'Name it: --model NAME')
  if (others.length === 0) return only
  const shown = names.slice(0, MAX_NAMED).map((name) => `  --model ${oneLine(name, 100)}`)
  const rest = names.length > shown.length ? [`  and ${names.length - shown.length} more`] : []
  throw new UsageError(`no model was named, and ${base} has ${names.length}`, ['Name one of them:', ...shown, ...rest].join('\n'))
}

/** Returns the chat models of a server; none if it does not list them. @param isOwn whether the user, and not a project, named it */
export async function modelsAt(baseUrl: string, env: Env, isOwn: boolean): Promise<readonly string[]> {
  try {
    const headers = isOwn ? bearer(env['MULLIGAN_API_KEY']) : {}
    const names = await modelNames(createGet(normalBaseUrl(baseUrl), { headers }))
    return names.filter((name) => isChat({ provider: '', name }))
  } catch {
    return []
  }
}

async function namesAt(base: string, env: Env, signal: AbortSignal | undefined): Promise<readonly string[]> {
  const get = createGet(base, { headers: bearer(env['MULLIGAN_API_KEY']), ...(signal && { signal }) })
  try {
    return await modelNames(get)
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error
    const what = error.kind === 'absent' ? error.message : `it did not list its models: ${error.message}`
    throw new UsageError(
      `no model was named, and the server at ${base} can't be asked: ${what}`,
      error.kind === 'absent' ? 'Is it running, and is the address correct?' : 'Name the model: --model NAME',
    )
  }
}
