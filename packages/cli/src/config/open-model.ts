/** The model that is in force. A project's file can't by itself send the conversation away from this machine. */
import { UsageError } from '../exit.ts'
import { HERE } from '../models/base-url.ts'
import { type ConfiguredModel, isCloud, openModel } from '../models/open.ts'
import type { Env } from '../models/provider.ts'
import { fromHome } from '../paths.ts'
import type { Setting } from './setting.ts'
import type { Settings } from './settings.ts'

export interface ModelInForce extends ConfiguredModel {
  /** For the person, where a project's file had a say. */
  readonly notice?: string
}

/**
 * @param named of the agent; it stands above the settings, a flag above it
 * @throws UsageError
 */
export async function openModelInForce(
  settings: Settings,
  named: Setting<string> | undefined,
  opensInReasoning: boolean,
  env: Env = process.env,
): Promise<ModelInForce> {
  const { baseUrl } = settings
  const model = settings.model?.origin === 'flag' ? settings.model : (named ?? settings.model)
  const opened = await openModel(
    { ...(model && { model: model.value }), ...(baseUrl?.origin === 'flag' && { baseUrl: baseUrl.value }), opensInReasoning },
    { ...env, MULLIGAN_BASE_URL: baseUrl?.value },
  )
  const { id, where } = opened.model
  const cloud = isCloud(id)
  const deciding = cloud ? model : baseUrl
  if (deciding?.origin === 'project' && where !== HERE && !settings.remoteHosts.includes(where))
    throw notAllowed(deciding, cloud, where, settings)
  const told = [model, cloud ? undefined : baseUrl].find((one) => one?.origin === 'project')
  return { ...opened, ...(told && { notice: `${id} on ${where}, from ${told.from}` }) }
}

function notAllowed({ value, from }: Setting<string>, cloud: boolean, where: string, { files }: Settings): UsageError {
  const own = files.find(({ origin }) => origin === 'user')?.path ?? 'config.json'
  return new UsageError(
    `${from} names ${value}, which would send this conversation to ${where}; a project can't decide that`,
    `To allow it once: ${cloud ? '--model' : '--base-url'} ${value}. For good: "remoteHosts": [${JSON.stringify(where)}] in ${fromHome(own)}.`,
  )
}
