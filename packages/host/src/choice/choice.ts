/** The effective model, agent and mode: set by flags at the start and changed later by the front end. */
import type { AgentEvent, Store } from '@mulligan/agent'
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
  /** The flags that open the model that the session remembers; empty if it remembers none. They count where {@link flags} name no model. */
  readonly remembered: ChoiceFlags
  readonly settings: Settings
  readonly named: NamedAgent
  /** All named agents. */
  readonly agents: readonly NamedAgent[]
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
  const started = session === undefined ? undefined : await lastStart(store, session)
  const read = async () => {
    // A new session keeps the model of the one before it.
    const remembered = isOpen(flags) ? (session === undefined ? before?.remembered : modelOf(started)) : undefined
    const kept = await readWith(cwd, { ...remembered, ...flags }, env, started)
    // An agent that is named now brings its own model, if it has one.
    const isOwn = flags.agent !== undefined && kept.named.model !== undefined
    return isOwn ? { ...(await readWith(cwd, flags, env, started)), remembered: {} } : { ...kept, remembered: remembered ?? {} }
  }
  const {
    settings,
    agents: { all: agents },
    named,
    remembered,
  } = trust ? await settled(cwd, read, { env, ...trust }) : await read()
  const opens = { ...remembered, ...flags }
  const { model, baseUrl }: ChoiceFlags = { ...before?.remembered, ...before?.flags }
  const choice = { flags, remembered, settings, named, agents }
  if (before && before.named.model === named.model && model === opens.model && baseUrl === opens.baseUrl)
    return { ...choice, configured: before.configured }
  const ownModel = named.model === undefined ? undefined : { value: named.model, origin: named.origin, from: named.from }
  return {
    ...choice,
    configured: await openEffectiveModel(settings, ownModel, opens.opensInReasoning === true, env, ask ? { ask } : {}),
  }
}

async function readWith(cwd: string, flags: ChoiceFlags, env: Env, started: Started | undefined) {
  const settings = readSettings(cwd, flags, env)
  const agents = await readAgents(cwd, settings, env)
  return { settings, agents, named: chooseAgent(agents, effectiveAgent(started, settings)) }
}

type Started = Extract<AgentEvent, { type: 'turn.started' }>

/** Returns how the session's last turn began; undefined if that is not known. */
async function lastStart(store: Store, sessionId: string): Promise<Started | undefined> {
  const last = await store.lastTurn(sessionId)
  if (!last) return undefined
  return (await store.events({ sessionId, turnId: last.id })).findLast((event) => event.type === 'turn.started')
}

/** Whether the flags leave the model to the session. */
const isOpen = ({ model, baseUrl }: ChoiceFlags): boolean => model === undefined && baseUrl === undefined

/** Returns the flags that open the session's model again. */
const modelOf = (started: Started | undefined): ChoiceFlags => (started?.reopen ? { model: started.model, ...started.reopen } : {})

/** Keeps a session's agent from its last turn unless another one is named. */
function effectiveAgent(started: Started | undefined, { agent }: Pick<Settings, 'agent'>): Setting<string> {
  if (agent.origin === 'flag' || started?.agent === undefined) return agent
  return { value: started.agent, origin: 'default', from: `session ${started.sessionId}` }
}
