/** The rules of the loop: what is on record, sent, asked. */
import { agent, type Mutation, repaired } from './mutation.ts'

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
    id: 'composed-address-asks',
    rule: 'trust: once a page was read, an address of the model’s own asks',
    file: 'packages/agent/src/turn/outward.ts',
    find: `if (!address?.host || isSaid(address, said())) return decided`,
    replace: `if (address) return decided`,
    test: { file: 'packages/agent/src/turn/outward.test.ts', name: 'an address that the model has put together asks' },
  },
]
