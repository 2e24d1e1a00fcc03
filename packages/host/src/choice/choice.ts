/** The effective model, agent and mode: from flags at the start, later as changed by the front end. */
import type { Store } from '@mulligan/agent'
import { chooseAgent, readAgents } from '../agents/agents.ts'
import type { NamedAgent } from '../agents/built-in.ts'
import type { Ask } from '../common/ask.ts'
import type { Env } from '../common/env.ts'
import { readSettings, type SettingFlags, type Settings } from '../config/settings.ts'
import { effectiveAgent } from './effective-agent.ts'
import { type EffectiveModel, openEffectiveModel } from './effective-model.ts'
import { settled, type TrustPort } from './trust-question.ts'

export interface ChoiceFlags extends SettingFlags {
  /** The model's output begins inside its thinking, and its server leaves that in. */
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
  readonly configured: EffectiveModel
}

export interface ChooseOptions {
  readonly env: Env
  readonly store: Store
  readonly session: string | undefined
  /** What is in force; its model stays open unless another is named. */
  readonly before?: Choice | undefined
  /** Where several models are found. Default: nobody is there. */
  readonly ask?: Ask | undefined
  /** At the start, where the user is asked for approval, or told what is left out. */
  readonly trust?: Omit<TrustPort, 'env' | 'uses'> | undefined
}

/** @throws UsageError */
export async function choose(cwd: string, flags: ChoiceFlags, { env, before, session, store, ask, trust }: ChooseOptions): Promise<Choice> {
  const read = async () => {
    const settings = readSettings(cwd, flags, env)
    const agents = await readAgents(cwd, settings, env)
    return { settings, agents, named: chooseAgent(agents, await effectiveAgent(store, session, settings)) }
  }
  const { settings, named } = trust ? await settled(cwd, read, { env, ...trust }) : await read()
  const isSame =
    before && before.named.model === named.model && before.flags.model === flags.model && before.flags.baseUrl === flags.baseUrl
  if (isSame) return { flags, settings, named, configured: before.configured }
  const ownModel = named.model === undefined ? undefined : { value: named.model, origin: named.origin, from: named.from }
  return {
    flags,
    settings,
    named,
    configured: await openEffectiveModel(settings, ownModel, flags.opensInReasoning === true, env, ask ? { ask } : {}),
  }
}
