/** The effective model, agent and mode: set by flags at the start and changed later by the front end. */
import type { Store } from '@mulligan/agent'
import { chooseAgent, readAgents } from '../agents/agents.ts'
import type { NamedAgent } from '../agents/built-in.ts'
import type { Ask } from '../common/ask.ts'
import type { Env } from '../common/env.ts'
import type { Setting } from '../common/setting.ts'
import { readSettings, type SettingFlags, type Settings } from '../config/settings.ts'
import { type EffectiveModel, openEffectiveModel } from './effective-model.ts'
import { settled, type TrustPort } from './trust-question.ts'

export interface ChoiceFlags extends SettingFlags {
  /** The model's output begins inside its reasoning, and the server does not separate it. */
  readonly opensInReasoning?: boolean
}

/** A value of `undefined` unsets the flag. */
export type ChoiceChanges = { readonly [Key in keyof ChoiceFlags]?: ChoiceFlags[Key] | undefined }

export const withChanges = (flags: ChoiceFlags, changes: ChoiceChanges): ChoiceFlags =>
  Object.fromEntries(Object.entries({ ...flags, ...changes }).filter(([, value]) => value !== undefined))

export interface Choice {
  /** The flags as given, with later changes applied. */
  readonly flags: ChoiceFlags
  readonly settings: Settings
  readonly named: NamedAgent
  readonly configured: EffectiveModel
}

export interface ChooseOptions {
  readonly env: Env
  readonly store: Store
  readonly session: string | undefined
  /** The current choice; its model stays open unless another one is named. */
  readonly before?: Choice | undefined
  /** Asks the user if several models are found. Default: nobody can be asked. */
  readonly ask?: Ask | undefined
  /** Used at the start, to ask the user for approval or report what is left out. */
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

/** Returns the agent of a session's last turn; undefined if it is not known. */
async function agentOfSession(store: Store, sessionId: string): Promise<string | undefined> {
  const last = await store.lastTurn(sessionId)
  if (!last) return undefined
  const started = (await store.events({ sessionId, turnId: last.id })).findLast((event) => event.type === 'turn.started')
  return started?.type === 'turn.started' ? started.agent : undefined
}

/** Keeps a session's agent from its last turn unless another one is named. */
export async function effectiveAgent(
  store: Store,
  session: string | undefined,
  { agent }: Pick<Settings, 'agent'>,
): Promise<Setting<string>> {
  if (session === undefined || agent.origin === 'flag') return agent
  const kept = await agentOfSession(store, session)
  return kept === undefined ? agent : { value: kept, origin: 'default', from: `session ${session}` }
}
