/** Rules about malicious model servers. */
import type { Mutation } from './mutation.ts'

const server = (name: string): Mutation['test'] => ({ file: 'packages/host/src/models/bounded-fetch.test.ts', name })
const limits = (name: string): Mutation['test'] => ({ file: 'packages/repair/src/limits.test.ts', name })
const request = (name: string): Mutation['test'] => ({ file: 'packages/agent/src/model/request.test.ts', name })
const fault = (name: string): Mutation['test'] => ({ file: 'packages/agent/src/model/fault.test.ts', name })

export const MODEL_SERVERS: readonly Mutation[] = [
  {
    id: 'server-event-bounded',
    rule: 'model servers: an endless line or event is cut off',
    file: 'packages/host/src/models/bounded-fetch.ts',
    find: `if (++open > most)`,
    replace: `if (++open > most && limits === undefined)`,
    test: server('an event past the limit'),
  },
  {
    id: 'server-reply-bounded',
    rule: 'model servers: an endless reply is cut off',
    file: 'packages/host/src/models/bounded-fetch.ts',
    find: `if (total > limits.reply)`,
    replace: `if (total < 0)`,
    test: server('empty lines past the limit'),
  },
  {
    id: 'server-error-bounded',
    rule: 'model servers: only the beginning of an error is read',
    file: 'packages/host/src/models/bounded-fetch.ts',
    find: `if (left > 0) return`,
    replace: `if (left > -1e9) return`,
    test: server('of an error ends in order at the limit'),
  },
  {
    id: 'server-bounded-for-all',
    rule: 'model servers: every client limits the size of bodies',
    file: 'packages/host/src/models/fetch.ts',
    find: `export const fetchAtHome: typeof fetch = boundedFetch(patientFetch)`,
    replace: `export const fetchAtHome: typeof fetch = patientFetch`,
    test: server('is hung up on by the client of a model at home'),
  },
  {
    id: 'calls-per-reply-stream',
    rule: 'model servers: calls beyond the limit are dropped from the stream',
    file: 'packages/repair/src/wire/calls.ts',
    find: `calls.length >= MAX_CALLS_PER_REPLY && (`,
    replace: `calls.length >= 1_000_000 && (`,
    test: limits('20,000 in one chunk'),
  },
  {
    id: 'calls-per-reply',
    rule: 'model servers: calls beyond the limit are dropped, whoever reports them',
    file: 'packages/agent/src/model/gather.ts',
    find: `if (++reported <= MAX_CALLS_PER_REPLY) parts.push(call)`,
    replace: `parts.push(call)`,
    test: request('of more calls than one may have keeps the first ones'),
  },
  {
    id: 'markup-bounded',
    rule: 'model servers: only a limited part of a text is searched for calls',
    file: 'packages/repair/src/envelope/blocks.ts',
    find: `text.length - at > MAX_MARKUP`,
    replace: `text.length - at > Infinity`,
    test: limits('is read up to its limit, and not a character further'),
  },
  {
    id: 'reading-yields',
    rule: 'model servers: timers and signals are handled while a reply is read',
    file: 'packages/agent/src/model/request.ts',
    find: `await nextTask()`,
    replace: ``,
    test: request('is read no further once the turn is stopped'),
  },
  {
    id: 'reply-never-begins',
    rule: 'model servers: a reply that never begins is given up',
    file: 'packages/agent/src/model/request.ts',
    find: `const wait = giveUpAfter(maxWait, false)`,
    replace: `const wait = giveUpAfter(maxWait + 600_000, false)`,
    test: request('is given up when only pings came'),
  },
  {
    id: 'server-words-plain',
    rule: 'model servers: quoted text contains no escape sequences, and no secret split by them',
    file: 'packages/agent/src/model/fault.ts',
    find: `.replace(UNSHOWN, '')`,
    replace: ``,
    test: fault('a secret that is broken up by'),
  },
]
