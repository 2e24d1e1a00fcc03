/** Which model, agent and mode a chat goes on with: as the flags say at its start, as its commands say later. */
import type { Store } from '@mulligan/agent'
import { chooseAgent, type NamedAgent, readAgents } from '../agents/agents.ts'
import { type ModelInForce, openModelInForce } from '../config/open-model.ts'
import { readSettings, type SettingFlags, type Settings } from '../config/settings.ts'
import { agentInForce } from '../session.ts'
import { settled } from '../trust/settle.ts'
import type { Ask } from '../ui/ask.ts'

export interface ChoiceFlags extends SettingFlags {
  readonly opensInReasoning?: boolean
}

/** What is set to undefined is as if it had never been given. */
export type ChoiceChanges = { readonly [Key in keyof ChoiceFlags]?: ChoiceFlags[Key] | undefined }

export const withChanges = (flags: ChoiceFlags, changes: ChoiceChanges): ChoiceFlags =>
  Object.fromEntries(Object.entries({ ...flags, ...changes }).filter(([, value]) => value !== undefined))

export interface Choice {
  /** As given, with what was changed since. */
  readonly flags: ChoiceFlags
  readonly settings: Settings
  readonly named: NamedAgent
  readonly configured: ModelInForce
}

export interface ChooseOptions {
  readonly store: Store
  readonly session: string | undefined
  /** What is in force; its model stays open unless another is named. */
  readonly before?: Choice
  /** Where several models are found. Default: nobody is there. */
  readonly ask?: Ask
  /** At the start, where the person is told what is not in force, or asked for their word. */
  readonly tell?: (line: string) => void
}

/** @throws UsageError */
export async function choose(cwd: string, flags: ChoiceFlags, { before, session, store, ask, tell }: ChooseOptions): Promise<Choice> {
  const read = async () => {
    const settings = readSettings(cwd, flags)
    const agents = await readAgents(cwd, settings)
    return { settings, agents, named: chooseAgent(agents, await agentInForce(store, session, settings)) }
  }
  const { settings, named } = tell ? await settled(cwd, read, { ...(ask && { ask }), tell }) : await read()
  const isSame =
    before && before.named.model === named.model && before.flags.model === flags.model && before.flags.baseUrl === flags.baseUrl
  if (isSame) return { flags, settings, named, configured: before.configured }
  const ownModel = named.model === undefined ? undefined : { value: named.model, origin: named.origin, from: named.from }
  return {
    flags,
    settings,
    named,
    configured: await openModelInForce(settings, ownModel, flags.opensInReasoning === true, process.env, ask ? { ask } : {}),
  }
}
