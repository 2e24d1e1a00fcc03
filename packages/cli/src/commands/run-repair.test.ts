/** Tests the whole path with a server that gets everything wrong at once. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { call, type RecordedRequest, type ScriptedTurn, say, scriptedModel, think } from '@mulligan/testing'
import { expect, it } from 'vitest'
import { place, using } from '../../test/cli.fixture.ts'

const glm = (name: string, args: Readonly<Record<string, string>>): string =>
  `<tool_call>${name}\n${Object.entries(args)
    .map(([key, value]) => `<arg_key>${key}</arg_key>\n<arg_value>${value}</arg_value>\n`)
    .join('')}</tool_call>\n`

/** Returns a streamed body, delta by delta. */
const deltas = (finish: string, ...list: readonly object[]): ScriptedTurn => ({
  raw: [...list.map((delta) => ({ delta, finish_reason: null })), { delta: {}, finish_reason: finish }]
    .map(
      (choice) =>
        `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 0, model: 'm', choices: [{ index: 0, ...choice }] })}\n\n`,
    )
    .concat('data: [DONE]\n\n')
    .join(''),
})
const delta = (id: string, name: string, args: string) => ({
  tool_calls: [{ index: 0, id, type: 'function', function: { name, arguments: args } }],
})
const sent = (request: RecordedRequest | undefined): string => JSON.stringify((request?.body as { messages: unknown }).messages)

it('leaked calls, two calls of one index and a call cut off by the length: the task is done all the same', async () => {
  using here = place({ 'a.txt': 'one\n', 'b.txt': 'two\n' })
  await using model = await scriptedModel([
    say(`I'll see what is there.\n${glm('list_dir', { path: '.' })}`),
    deltas('stop', delta('c1', 'read_file', '{"path":"a.txt"}'), delta('c2', 'read_file', '{"path":"b.txt"}')),
    deltas('length', delta('c3', 'write_file', '{"path":"sum.txt","content":"one and')),
    say(glm('write_file', { path: 'sum.txt', content: 'one and two' })),
    say('Both are in sum.txt.'),
  ])
  const { code, stdout, stderr } = await here.run(['Put them together.', '--yes', ...using(model)])
  model.assertDone()
  expect([code, stdout]).toEqual([0, 'Both are in sum.txt.\n'])
  expect(readFileSync(join(here.dir, 'sum.txt'), 'utf8')).toBe('one and two')
  expect(stderr).toMatch(/^✓ list_dir .*repaired a call written into the text as glm does/m)
  expect(stderr.match(/^✓ read_file [ab]\.txt/gm)).toHaveLength(2)
  expect(stderr).toMatch(/^● write_file .*malformed_call.*cut off/m)
  for (const request of model.requests) expect(sent(request)).not.toMatch(/arg_key|<tool_call>/)
})

it('the same in JSON has each repair with its call', async () => {
  using here = place({ 'a.txt': 'one\n' })
  await using model = await scriptedModel([say(glm('read_file', { file: 'a.txt' })), say('One.')])
  const { stdout } = await here.run(['Read.', '--json', ...using(model)])
  expect(JSON.parse(stdout).calls).toMatchObject([
    {
      tool: 'read_file',
      input: { path: 'a.txt' },
      repairs: [
        { kind: 'envelope', to: 'read_file' },
        { kind: 'parameter', from: 'file', to: 'path' },
      ],
    },
  ])
})

it('a signed turn with a repaired call is accepted by the strict server', async () => {
  using here = place({ 'a.txt': 'one\n' })
  await using model = await scriptedModel([think('The file.', call('ReadFile', { file: 'a.txt', limit: '5' })), say('One.')])
  const env = { ANTHROPIC_API_KEY: 'test-key', ANTHROPIC_BASE_URL: model.anthropicUrl }
  const { code, stdout } = await here.run(['Read.', '--model', 'anthropic/claude-scripted'], { env })
  model.assertDone()
  expect([code, stdout]).toEqual([0, 'One.\n'])
  expect(sent(model.requests[1])).toContain('your call was read as read_file')
})
