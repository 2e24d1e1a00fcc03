/** The rules of the loop: what is on record, sent, asked. */
import { agent, type Mutation, repaired } from './mutation.ts'

const longSession = (name: string): Mutation['test'] => ({ file: 'packages/agent/src/context/long-session.test.ts', name })

export const AGENT: readonly Mutation[] = [
  {
    id: 'ledger',
    rule: '9: the person gets the ledger, from the engine',
    file: 'packages/agent/src/turn/ledger.ts',
    find: `if (effect !== 'read') changed.push(entry)`,
    replace: ``,
    test: agent('a wrong call comes back with what to fix'),
  },
  {
    id: 'last-request',
    rule: 'limits: request N of N concludes in words',
    file: 'packages/agent/src/turn/ask.ts',
    find: `noCalls: concluding !== undefined,`,
    replace: `noCalls: false,`,
    test: agent('request N of N concludes in words'),
  },
  {
    id: 'signed-untouched',
    rule: 'history: a signed turn goes back untouched',
    file: 'packages/agent/src/history/projection.ts',
    find: `const face = signed || !record ? wireFace(part) : canonicalFace(record, part)\n        idOf.set`,
    replace: `const face = !record ? wireFace(part) : canonicalFace(record, part)\n        idOf.set`,
    test: agent('a signed turn goes back untouched'),
  },
  {
    id: 'no-invalid-history',
    rule: 'history: arguments that were no object go back as one',
    file: 'packages/agent/src/history/projection.ts',
    find: `input: isObject(input) ? input : { [INVALID_JSON]: (typeof input === 'string' ? input : JSON.stringify(input)).slice(0, 2000) }`,
    replace: `input: input as object`,
    test: agent('bad calls of every kind leave a history the strict server accepts'),
  },
  {
    id: 'unread-not-replayed',
    rule: 'history: leaked markup never goes back to the model',
    file: 'packages/agent/src/history/projection.ts',
    find: `if (unread !== undefined || isMarkup(input)) return { name: safeName(tool), input: {} }`,
    replace: ``,
    test: repaired('whose values are a judgement is run for a read, and told back for an effect'),
  },
  {
    id: 'role-is-held',
    rule: 'agents: what an agent does not have is denied, whoever would allow it',
    file: 'packages/agent/src/turn/role.ts',
    find: `return reason === undefined ? policy(request)`,
    replace: `return reason !== '' ? policy(request)`,
    test: { file: 'packages/agent/src/turn/lean/lean.test.ts', name: 'what a role withholds' },
  },
  {
    id: 'context-is-kept-within',
    rule: 'small models: no request is longer than the context, with room for the reply',
    file: 'packages/agent/src/context/window.ts',
    find: `if (isTooLong()) await compactFor(step, 'full')\n    return isTooLong() ? tooLong() : undefined`,
    replace: `return undefined`,
    test: longSession('fit, with the reply, in every request'),
  },
  {
    id: 'digest-keeps-facts',
    rule: 'small models: what was found stays known after a compaction',
    file: 'packages/agent/src/context/digest.ts',
    find: `lines - 2 * HEADING)`,
    replace: `0)`,
    test: longSession('leave every fact, denial and doubt'),
  },
  {
    id: 'digest-keeps-denials',
    rule: 'small models: a denial and an unknown effect stay known after a compaction',
    file: 'packages/agent/src/context/memory.ts',
    find: `standing.add(one)`,
    replace: ``,
    test: { file: 'packages/agent/src/context/memory.test.ts', name: 'has open denials and doubts' },
  },
  {
    id: 'words-are-not-cut',
    rule: 'small models: a message that does not fit ends the turn, and is never sent or cut',
    file: 'packages/agent/src/context/window.ts',
    find: `return isTooLong() ? tooLong() : undefined`,
    replace: `return undefined`,
    test: { file: 'packages/agent/src/context/window.test.ts', name: 'a message that does not fit alone' },
  },
]
