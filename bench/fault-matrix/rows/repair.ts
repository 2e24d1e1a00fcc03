/** Calls that arrive in another form. */
import { type ScriptedTurn, say, think } from '@mulligan/testing'
import type { Row } from '../row.ts'

const glm = (name: string, key: string, value: string): string =>
  `<tool_call>${name}<arg_key>${key}</arg_key><arg_value>${value}</arg_value></tool_call>`
const LOOK = glm('search_notes', 'query', 'plan')
const ADD = glm('add_note', 'text', 'x')
const FINE = say('Two plans.')

/** A streamed body with several calls that all have the same index. */
const oneIndex = (name: string, ...inputs: readonly object[]): ScriptedTurn => ({
  raw: [
    ...inputs.map((input, at) => ({
      delta: { tool_calls: [{ index: 0, id: `call_${at}`, type: 'function', function: { name, arguments: JSON.stringify(input) } }] },
      finish_reason: null,
    })),
    { delta: {}, finish_reason: 'stop' },
  ]
    .map(
      (choice) =>
        `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 0, model: 'm', choices: [{ index: 0, ...choice }] })}\n\n`,
    )
    .concat('data: [DONE]\n\n')
    .join(''),
})

export const REPAIR: readonly Row[] = [
  {
    name: 'a read leaked into the text is run',
    script: [say(`I look.\n${LOOK}`), FINE],
    calls: ['search_notes ok'],
    answer: /^Two plans\.$/,
  },
  {
    name: 'an effect leaked into the text is run once it is allowed',
    flags: ['--yes'],
    script: [say(ADD), FINE],
    calls: ['add_note ok'],
    files: { 'notes.txt': 'x\n' },
  },
  {
    name: 'an effect whose markup is a judgement is told back',
    flags: ['--yes'],
    script: [say(glm('add_note', 'text', 'use </arg_value> here')), say(ADD), FINE],
    calls: ['add_note retry malformed_call, 3 left', 'add_note ok'],
    told: [/could not be read/],
    files: { 'notes.txt': 'x\n' },
  },
  {
    name: 'a leaked effect that the length cut off is not run',
    flags: ['--yes'],
    script: [say(ADD, { finish: 'length' }), say(ADD), FINE],
    calls: ['add_note retry malformed_call, 3 left', 'add_note ok'],
    told: [/cut off/],
    files: { 'notes.txt': 'x\n' },
  },
  {
    name: 'an effect in the thinking is not run',
    flags: ['--yes'],
    script: [think(ADD, say('')), FINE],
    calls: [],
    files: { 'notes.txt': undefined },
  },
  {
    name: 'an effect shown in an answer is not run',
    flags: ['--yes'],
    script: [say(`Such models write ${ADD} where a note is to be kept, and their server takes it off.`)],
    calls: [],
    answer: /<tool_call>add_note/,
    files: { 'notes.txt': undefined },
  },
  {
    name: 'two calls of one index are two calls',
    on: ['openai'],
    flags: ['--yes'],
    script: [oneIndex('add_note', { text: 'x' }, { text: 'y' }), FINE],
    calls: ['add_note ok', 'add_note ok'],
    files: { 'notes.txt': 'x\ny\n' },
  },
  {
    name: 'several objects in one call are as many calls',
    on: ['openai'],
    flags: ['--yes'],
    script: [{ calls: [{ name: 'add_note', input: '{"text":"x"}{"text":"y"}' }] }, FINE],
    calls: ['add_note ok', 'add_note ok'],
    files: { 'notes.txt': 'x\ny\n' },
  },
]
