/** Rules of the engine in the loops of other frameworks. */
import type { Mutation } from './mutation.ts'

const core = (file: string): string => `packages/core/src/adapter/${file}`
const ofTurn = (name: string): Mutation['test'] => ({ file: core('turn.test.ts'), name })

export const ADAPTERS: readonly Mutation[] = [
  {
    id: 'adapter-changed-call',
    rule: 'in a framework’s loop: a call that the framework changed is decided about anew',
    file: core('turn.ts'),
    find: `known?.key === keyOf(call.name, call.input) ? known`,
    replace: `known ? known`,
    test: ofTurn('decides anew'),
  },
  {
    id: 'adapter-unanswered',
    rule: 'in a framework’s loop: a call whose question was not answered does not run',
    file: core('turn.ts'),
    find: `await answer(call, { answer: 'nobody' })`,
    replace: `await answer(call, { answer: 'once' })`,
    test: ofTurn('was not answered'),
  },
  {
    id: 'adapter-ids',
    rule: 'in a framework’s loop: every call has an id of its own',
    file: core('turn.ts'),
    find: `found.id === '' || taken.has(found.id)`,
    replace: `found.id === ''`,
    test: ofTurn('another id'),
  },
  {
    id: 'adapter-last',
    rule: 'in a framework’s loop: calls of the last reply are dropped',
    file: core('turn.ts'),
    find: `drops: by !== undefined`,
    replace: `drops: false`,
    test: ofTurn('drops the calls'),
  },
  {
    id: 'adapter-restart',
    rule: 'in a framework’s loop: a reply that begins again makes its calls once',
    file: core('reply.ts'),
    find: `restart: () => { read = open()`,
    replace: `restart: () => {`,
    test: ofTurn('begins again'),
  },
  {
    id: 'adapter-gentle',
    rule: 'in a framework’s loop: the gentle preset refuses no call because of earlier ones',
    file: core('options.ts'),
    find: `{ budgets = isFull, guard = isFull }`,
    replace: `{ budgets = true, guard = true }`,
    test: ofTurn('because of earlier ones'),
  },
  {
    id: 'adapter-open-schema',
    rule: 'in a framework’s loop: the framework decides about parameters that the schema does not have',
    file: core('tools.ts'),
    find: `define(opened(input))`,
    replace: `define(input)`,
    test: ofTurn('does not have to the framework'),
  },
  {
    id: 'adapter-replay',
    rule: 'in a framework’s loop: counters survive a change of the tools',
    file: core('turn.ts'),
    find: `one.replay(past)`,
    replace: ``,
    test: ofTurn('if the tools of a request change'),
  },
  {
    id: 'langchain-interruption',
    rule: 'langchain: an interruption by the tool itself is passed on',
    file: 'packages/langchain/src/mulligan.ts',
    find: `if (bubbled !== undefined) throw bubbled`,
    replace: ``,
    test: { file: 'packages/langchain/src/approval.test.ts', name: 'passes on an interruption' },
  },
  {
    id: 'openai-agents-other-runner',
    rule: 'openai-agents: the agents of a runner have no engine in another runner',
    file: 'packages/openai-agents/src/mulligan.ts',
    find: `runs.get(context)?.toolsFor(tools)`,
    replace: `createRun({}).toolsFor(tools)`,
    test: { file: 'packages/openai-agents/src/mulligan.test.ts', name: 'in another runner' },
  },
  {
    id: 'openai-agents-refused-handoff',
    rule: 'openai-agents: a refused call does not hand off',
    file: 'packages/core/src/adapter/refused.ts',
    find: `name: isRefused ? REFUSED : name,`,
    replace: `name,`,
    test: { file: 'packages/openai-agents/src/mulligan.test.ts', name: 'does not hand off' },
  },
  {
    id: 'mastra-own-approval',
    rule: 'mastra: the approvals that a tool asks for stay',
    file: 'packages/mastra/src/tools.ts',
    find: `asks(name) || tool.requireApproval === true`,
    replace: `asks(name)`,
    test: { file: 'packages/mastra/src/approval.test.ts', name: 'only its tool says so' },
  },
]
