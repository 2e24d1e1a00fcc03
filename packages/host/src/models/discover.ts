/**
 * Finds a model when none is named: the one that was chosen before, otherwise one on a server on this machine. Cloud models are never
 * chosen, and no API key is sent.
 */

import type { Ask } from '../common/ask.ts'
import type { Env } from '../common/env.ts'
import { NoModel, UsageError } from '../common/errors.ts'
import { oneLine } from '../common/sanitize.ts'
import { WAYS } from './open.ts'
import { type Candidate, candidatesOf, isHere, probeServer, probeServers, type ServerReport } from './probe.ts'
import { PROVIDERS, providerEntry } from './registry.ts'
import { type Remembered, readRemembered, remember } from './remembered.ts'
import { idOf } from './servers/server.ts'

export interface DiscoverOptions {
  /** Asks the user, if several models are found and somebody can be asked. */
  readonly ask?: Ask
  readonly signal?: AbortSignal
}

export interface Discovered {
  /** `PROVIDER/NAME`. */
  readonly id: string
  readonly where: string
  /** Why this model was chosen, for the user. */
  readonly how: string
  /** Whether the user chose it, now or before. */
  readonly chosen: boolean
}

/** Finds a model. @throws UsageError if none is found, or none was chosen */
export async function discoverModel(env: Env, { ask, signal }: DiscoverOptions = {}): Promise<Discovered> {
  const probing = signal ? { signal } : {}
  const before = readRemembered(env)
  const kept = before && (await stillThere(before, env, probing))
  if (kept) return { id: idOf(kept), where: kept.where, how: 'chosen before', chosen: true }
  const reports = await probeServers(env, probing)
  const candidates = candidatesOf(reports)
  const here = candidates.filter(isHere)
  const gone = before ? `; ${idOf(before)}, which you chose before, is not available` : ''
  const near = candidates.filter(isNoCloud)
  if (ask && (near.length > 1 || near.length > here.length)) {
    const choice = await askWhich(near, ask, signal)
    remember(choice, env)
    return { id: idOf(choice), where: choice.where, how: 'as you chose', chosen: true }
  }
  const [first] = here
  if (!first) throw noneFound(reports, candidates, env)
  const how = here.length === 1 ? 'found there' : `the first of ${here.length} found there`
  return { id: idOf(first), where: first.where, how: `${how}${gone}`, chosen: false }
}

const isNoCloud = ({ passedTo }: Candidate): boolean => passedTo === undefined

/** Checks whether the remembered model still exists. Asks only its own server. */
async function stillThere(before: Remembered, env: Env, probing: { readonly signal?: AbortSignal }): Promise<Candidate | undefined> {
  const server = Object.hasOwn(PROVIDERS, before.provider) ? await providerEntry(before.provider).server?.() : undefined
  if (!server || server.address(env) !== before.address) return undefined
  const report = await probeServer(server, before.address, probing)
  return candidatesOf([report]).find((one) => one.name === before.name && isNoCloud(one))
}

const MAX_ASKED = 20
const TRIES = 3

/** Asks the user to choose a model. @throws UsageError if they choose none */
async function askWhich(candidates: readonly Candidate[], ask: Ask, signal = new AbortController().signal): Promise<Candidate> {
  const shown = candidates.slice(0, MAX_ASKED)
  const lines = shown.map((one, at) => `  ${String(at + 1).padStart(2)}  ${oneLine(idOf(one), 80)}${noteOn(one)}`)
  const rest = candidates.length > shown.length ? [`      and ${candidates.length - shown.length} more: mulligan models`] : []
  let question = ['Which model? Your choice is remembered.', ...lines, ...rest, `Number [1]: `].join('\n')
  for (let tries = 0; tries < TRIES; tries++) {
    const answer = await ask(question, signal)
    if (answer === undefined) break
    const chosen = pick(shown, answer.trim())
    if (chosen) return chosen
    question = `A number from 1 to ${shown.length}, or a name [1]: `
  }
  throw new UsageError('no model was chosen', WAYS)
}

function pick(shown: readonly Candidate[], answer: string): Candidate | undefined {
  if (/^\d*$/.test(answer)) return shown[answer === '' ? 0 : Number(answer) - 1]
  return shown.find((one) => idOf(one) === answer) ?? shown.find(({ name }) => name === answer)
}

function noteOn(candidate: Candidate): string {
  const notes = [
    ...(candidate.loaded ? ['loaded'] : []),
    ...(candidate.tools === false ? ['without tools'] : []),
    ...(isHere(candidate) ? [] : [`runs on ${oneLine(candidate.where, 60)}`]),
  ]
  return notes.length > 0 ? `  (${notes.join(', ')})` : ''
}

function noneFound(reports: readonly ServerReport[], candidates: readonly Candidate[], env: Env): UsageError {
  const looked = reports.map(
    ({ server, address, state, why = 'not running', others }) =>
      `  ${server.title.padEnd(9)}  ${address}: ${state === 'running' ? (others > 0 ? 'no chat model' : 'no model on this machine') : oneLine(why, 100)}`,
  )
  const elsewhere = candidates.map(
    (one) => `  ${oneLine(idOf(one), 80)} is available, but runs on ${oneLine(one.where, 60)}. To use it, name it.`,
  )
  const keys = Object.entries(PROVIDERS).flatMap(([provider, { cloud }]) =>
    (cloud?.keys ?? [])
      .filter((key) => env[key]?.trim())
      .map((key) => `${key} is set but was not used: a cloud model is used only when you name it: --model ${provider}/NAME.`),
  )
  return new NoModel(
    'no model was named, and none was found on this machine',
    [
      'Looked for:',
      ...looked,
      ...elsewhere.slice(0, 5),
      'None installed? Get Ollama (https://ollama.com), then run: ollama pull qwen3:8b',
      'Start one of these servers (mulligan models shows which are running), or name a model (or set MULLIGAN_MODEL and MULLIGAN_BASE_URL):',
      ...WAYS.split('\n').slice(1),
      ...keys,
    ].join('\n'),
  )
}
