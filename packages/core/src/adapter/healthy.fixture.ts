/** What the tests of every adapter share: scripts of a model that makes no mistake. */
import { call, calls, type ScriptedCall, say } from '@mulligan/testing'

/** A valid input of the tool `search`. */
export const OK = { query: 'notes', limit: 3 }

const SCRIPTS = [
  ['an answer', [say('  Hello,\n\nworld <b>.')]],
  ['a call', [call('search', OK), say('Found.')]],
  ['text beside a call', [{ text: 'I search.', calls: [{ name: 'search', input: OK }] }, say('Found.')]],
  ['parallel calls', [calls(['search', OK], ['send_mail', { to: 'a' }]), say('Done.')]],
  ['a parameter that the schema drops', [call('search', { ...OK, extra: 1 }), say('Found.')]],
  ['the same call ten times', [...Array.from({ length: 10 }, () => call('search', OK)), say('Found.')]],
] as const

/** Scripts with fixed ids, so that two runs can be compared byte by byte. */
export const HEALTHY = SCRIPTS.map(
  ([name, script]) =>
    [
      name,
      script.map((turn, at) => ({
        ...turn,
        ...('calls' in turn && { calls: (turn.calls as readonly ScriptedCall[]).map((one, n) => ({ ...one, id: `call_${at}_${n}` })) }),
      })),
    ] as const,
)

/** Returns a function whose promises resolve once it was called `count` times: with fewer calls at a time, a test hangs and fails. */
export function barrier(count: number): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let arrived = 0
  return () => {
    if (++arrived === count) resolve()
    return promise
  }
}
