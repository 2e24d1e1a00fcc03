/** Rules of `startTurn`. */
import { core, type Mutation } from './mutation.ts'

const each = (name: string, format = 'chat completions'): Mutation['test'] => ({
  file: core('loop/start-turn.test.ts'),
  name: `${format}, whole > ${name}`,
})
const alone = (name: string): Mutation['test'] => ({ file: core('loop/start-turn.test.ts'), name: `a turn > ${name}` })
const sendable = (name: string): Mutation['test'] => ({ file: core('loop/sendable.test.ts'), name: `chat completions, whole > ${name}` })

const interrupted = (name: string): Mutation['test'] => ({
  file: core('loop/interrupted.test.ts'),
  name: `a turn whose process ended during an effect > ${name}`,
})
const odd = (name: string): Mutation['test'] => ({ file: core('api/odd-replies.test.ts'), name })

export const TURN: readonly Mutation[] = [
  {
    id: 'turn-cut-off',
    rule: 'turn: the last call of a reply that was cut off does not run',
    file: core('loop/read-calls.ts'),
    find: `cutShort ? lastCutOff(calls) : calls`,
    replace: `calls`,
    test: each('the last call of a reply that was cut off does not run'),
  },
  {
    id: 'turn-last-refused',
    rule: 'turn: the calls of the last reply are refused',
    file: core('loop/start-turn.ts'),
    find: `if (by === undefined) return runCalls`,
    replace: `if (calls) return runCalls`,
    test: each('the last request may not call tools; what is called all the same is refused, and the turn ends in words'),
  },
  {
    id: 'turn-last-told',
    rule: 'turn: the model is told that its next reply is the last',
    file: core('loop/start-turn.ts'),
    find: `if (next === undefined) return sent`,
    replace: `if (sent) return sent`,
    test: each('the last request may not call tools; what is called all the same is refused, and the turn ends in words'),
  },
  {
    id: 'turn-ids',
    rule: 'turn: no two calls have the same id',
    file: core('loop/sent-calls.ts'),
    find: `&& !used.has(wanted)`,
    replace: ``,
    test: each('repeated ids are replaced'),
  },
  {
    id: 'turn-signed',
    rule: 'turn: a signed reply is sent back unchanged',
    file: core('loop/sent-calls.ts'),
    find: `sendableName(signed ? (call.name ?? '') : tool)`,
    replace: `sendableName(tool)`,
    test: each('sends a signed reply back unchanged', 'Anthropic messages'),
  },
  {
    id: 'turn-object',
    rule: 'turn: the input of a call is sent back as an object',
    file: core('loop/sent-calls.ts'),
    find: `if (isRecord(value)) return value`,
    replace: `if (value) return value as Json`,
    test: sendable('arguments that are a list'),
  },
  {
    id: 'turn-begun',
    rule: 'turn: an effect that had begun when the process ended does not run again',
    file: core('create-executor.ts'),
    find: `if (begun) return refused(ready, begun, { ...resolved, attempts: 1 })`,
    replace: ``,
    test: alone('whose process ended during an effect does not run it again'),
  },
  {
    id: 'turn-approval-throws',
    rule: 'turn: an approval that throws is none',
    file: core('loop/run-calls.ts'),
    within: 'asking',
    find: `error }) return { answer: 'nobody' }`,
    replace: `error }); return { answer: 'once' }`,
    test: each('an approval that throws is none'),
  },
  {
    id: 'turn-begun-tracked',
    rule: 'turn: an effect that had begun when the process ended is indeterminate for other calls too',
    file: core('recorder.ts'),
    find: `(options.state && interruptedTurn(options.state))`,
    replace: `options.state`,
    test: interrupted('asks about a call that might repeat it, if the request was made again'),
  },
  {
    id: 'turn-call-ids',
    rule: 'turn: another call in the place of one that had begun is not taken for it',
    file: core('loop/start-turn.ts'),
    find: `/\${hash(\`\${name} \${input}\`)}`,
    replace: ``,
    test: interrupted('asks about a call that might repeat it, if the request was made again'),
  },
  {
    id: 'turn-one-reply',
    rule: 'turn: one reply is read at a time',
    file: core('loop/start-turn.ts'),
    find: `isReading = true`,
    replace: ``,
    test: { file: core('loop/misuse.test.ts'), name: 'a turn > reads one reply at a time' },
  },
  {
    id: 'turn-trailing-reasoning',
    rule: 'turn: reasoning at the end of a reply is not sent back',
    file: core('loop/start-turn.ts'),
    find: `all.slice(0, all.findLastIndex(({ type }) => type !== 'reasoning') + 1)`,
    replace: `all`,
    test: odd('Anthropic messages > thinking and searches without a result are not sent back at the end of a reply'),
  },
]
