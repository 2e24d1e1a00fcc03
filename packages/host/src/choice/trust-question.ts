/** Asks once about everything in a folder that needs the user's approval. If nobody can be asked, it is left out and reported. */
import type { NamedAgent } from '../agents/built-in.ts'
import type { Env } from '../common/env.ts'
import { oneLine } from '../common/sanitize.ts'
import type { Withheld } from '../config/admit.ts'
import type { Settings } from '../config/settings.ts'
import { changeTrust, type FolderTools, folderTools, needsTrust, readTrust, withTrusted } from '../trust/store.ts'

export interface Wanted {
  /** The workspace. */
  readonly cwd: string
  /** The folder that the settings belong to. */
  readonly project: string
  /** Files with code that runs outside the sandbox. Absent if there are none or they are trusted. */
  readonly tools?: FolderTools
  /** Settings that send data elsewhere or loosen something. */
  readonly settings: readonly Withheld[]
  /** Why earlier trust does not count. */
  readonly problem?: string
}

export interface Chosen {
  readonly settings: Settings
  readonly agents?: { readonly withheld: readonly Withheld[] }
  readonly named?: NamedAgent
}

export interface TrustPort {
  readonly env: Env
  /** Asks the user whether to trust the folder. Absent when nobody can be asked. */
  readonly trust?: ((wanted: Wanted) => Promise<boolean>) | undefined
  /** Called with what was left out. */
  readonly onWithheld: (wanted: Wanted) => void
  /** Limits the question to what will be used: the tools and the settings they run with, or the model. Default: everything. */
  readonly uses?: 'tools' | 'model' | undefined
}

/** Returns everything that needs approval, whether it is used or not. */
export function wantedIn(cwd: string, { settings, agents }: Chosen, env: Env): Wanted {
  const tools = folderTools(cwd, env)
  const { problem } = readTrust(cwd, env)
  return {
    cwd,
    project: projectOf(settings, cwd),
    settings: [...settings.withheld, ...(agents?.withheld ?? [])],
    ...(needsTrust(tools) && { tools }),
    ...(problem !== undefined && { problem }),
  }
}

export const projectOf = ({ files }: Settings, cwd: string): string => files.find(({ origin }) => origin === 'project')?.folder ?? cwd

/** Whether a setting would count now: no flag or variable overrides it, and an agent's model belongs to the active agent. */
function relevant({ settings: { model, baseUrl }, named }: Chosen, { key }: Withheld): boolean {
  const isGiven = (setting: Settings['model']): boolean => setting?.origin === 'flag' || setting?.origin === 'env'
  if (key === 'model') return !isGiven(model)
  if (key === 'baseUrl') return !isGiven(baseUrl)
  return !key.startsWith('agents.') || (key === `agents.${named?.name}.model` && named?.origin === 'project' && model?.origin !== 'flag')
}

const isOfModel = ({ key }: Withheld): boolean => key === 'model' || key === 'baseUrl' || key.startsWith('agents.')

/**
 * Reads the effective values. If some need approval, asks for it, stores the answer and reads again.
 * @throws UsageError if the answer cannot be stored
 */
export async function settled<T extends Chosen>(
  cwd: string,
  read: () => Promise<T> | T,
  { env, trust: asksTrust, onWithheld, uses }: TrustPort,
): Promise<T> {
  const chosen = await read()
  const { tools, ...all } = wantedIn(cwd, chosen, env)
  const wanted: Wanted = {
    ...all,
    settings: all.settings.filter((one) => relevant(chosen, one) && (uses === undefined || isOfModel(one) === (uses === 'model'))),
    ...(tools && uses !== 'model' && { tools }),
  }
  if (!wanted.tools && wanted.settings.length === 0) return chosen
  if (asksTrust && (await asksTrust(wanted))) {
    await trust(wanted, env)
    return read()
  }
  onWithheld(wanted)
  return chosen
}

/** Returns one line for the user about what was left out. */
export const withheldText = ({ tools, settings }: Wanted): string =>
  oneLine(`Left out until it is trusted: ${[...(tools?.found.files ?? []), ...settings.map(({ key }) => key)].join(', ')}`, 400)

/** Stores the user's approval. @throws UsageError if it cannot be stored */
export async function trust({ cwd, project, tools, settings }: Wanted, env: Env): Promise<void> {
  const change: Parameters<typeof changeTrust>[1] = (folders) => {
    const kept = settings.map(({ key, value }) => ({ key, value }))
    const withSettings = kept.length === 0 ? folders : withTrusted(folders, project, { settings: kept })
    return tools ? withTrusted(withSettings, cwd, { tools: tools.found.hash, settings: [] }) : withSettings
  }
  await changeTrust(cwd, change, env)
}
