/** The scenarios of an editor, with the SDK's own client over streams of bytes. */
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { call, calls, say, scriptedModel, think } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { place } from '../../host/src/common/place.fixture.ts'
import { editor } from './editor.fixture.ts'

const write = (path: string, content: string) => call('write_file', { path, content })
const failure = (promise: Promise<unknown>): Promise<{ readonly code: number; readonly message: string }> =>
  promise.then(
    () => Promise.reject(new Error('it succeeded')),
    (error) => error as { readonly code: number; readonly message: string },
  )

describe('a session', () => {
  it('says what it can, and has modes, models and agents', async () => {
    await using model = await scriptedModel([])
    using here = place()
    await using zed = await editor(here, { model })
    expect(zed.hello).toMatchObject({
      protocolVersion: 1,
      agentInfo: { name: 'mulligan', version: '1.2.3' },
      agentCapabilities: { loadSession: true, promptCapabilities: { embeddedContext: true, image: false } },
    })
    const opened = await zed.agent.request('session/new', { cwd: here.dir, mcpServers: [] })
    expect(opened.modes?.availableModes.map(({ id }) => id)).toEqual(['read-only', 'ask', 'auto-edit', 'auto'])
    expect(opened.configOptions?.map(({ id, currentValue }) => [id, currentValue])).toEqual([
      ['mode', 'ask'],
      ['model', 'openai-compatible/scripted'],
      ['agent', 'build'],
    ])
  })

  it('streams thoughts and text, and says how much of the context is used', async () => {
    await using model = await scriptedModel([think('Hm.', say(['Hel', 'lo.']))])
    using here = place()
    await using zed = await editor(here, { model })
    const id = await zed.open(here.dir)
    expect(await zed.send(id, 'Hi')).toEqual({ stopReason: 'end_turn' })
    expect([zed.said(id, 'agent_thought_chunk'), zed.said(id)]).toEqual(['Hm.', 'Hello.'])
    expect(zed.only(id, 'agent_message_chunk').length).toBeGreaterThan(1)
    expect(zed.only(id, 'usage_update').at(-1)).toMatchObject({ used: expect.any(Number), size: expect.any(Number) })
  })

  it('shows a call with its place, change and outcome, and asks with the exact change', async () => {
    await using model = await scriptedModel([
      call('edit_file', { path: 'a.txt', edits: [{ old_text: 'two', new_text: '2' }] }),
      say('Edited.'),
    ])
    using here = place({ 'a.txt': 'one\ntwo\nthree\n' })
    await using zed = await editor(here, { model, permission: () => 'once' })
    const id = await zed.open(here.dir)
    await zed.send(id, 'Edit')
    const change = { type: 'diff', path: join(here.dir, 'a.txt'), oldText: 'one\ntwo\nthree\n', newText: 'one\n2\nthree\n' }
    const [begun] = zed.only(id, 'tool_call')
    expect(begun).toMatchObject({
      ...{ name: 'edit_file', title: 'edit_file a.txt', kind: 'edit', status: 'pending' },
      locations: [{ path: join(here.dir, 'a.txt') }],
    })
    const [asked] = zed.asked
    expect(asked?.toolCall).toMatchObject({ toolCallId: begun?.toolCallId, title: 'edit_file (write) a.txt' })
    expect(JSON.stringify(asked?.toolCall)).toContain('Needs approval')
    expect(asked?.options.map(({ kind }) => kind)).toEqual(['allow_once', 'allow_always', 'allow_always', 'allow_always', 'reject_once'])
    expect(zed.only(id, 'tool_call_update').map(({ status }) => status)).toEqual(['in_progress', 'completed'])
    expect(zed.only(id, 'tool_call_update').at(-1)?.content).toEqual([change])
    expect(here.read('a.txt')).toBe('one\n2\nthree\n')
    expect(zed.said(id)).toContain('- changed: `edit_file a.txt`')
  })

  it.each([
    ['once', 2],
    ['session', 1],
    ['always-0', 2],
    ['always-1', 1],
  ])('allowed %s: two writes ask %i times', async (answer, times) => {
    await using model = await scriptedModel([write('a.txt', 'a\n'), write('b.txt', 'b\n'), say('Done.')])
    using here = place()
    await using zed = await editor(here, { model, permission: () => answer })
    const id = await zed.open(here.dir)
    await zed.send(id, 'Write')
    expect([zed.asked.length, here.read('a.txt'), here.read('b.txt')]).toEqual([times, 'a\n', 'b\n'])
  })

  it.each([
    ['no', 'denied'],
    ['cancelled', 'denied'],
    ['something that was not offered', 'denied'],
  ])('answered %s: nothing is written, and the call failed', async (answer, status) => {
    await using model = await scriptedModel([write('a.txt', 'a\n'), say('It was not allowed.')])
    using here = place()
    await using zed = await editor(here, { model, permission: () => answer })
    const id = await zed.open(here.dir)
    expect(await zed.send(id, 'Write')).toEqual({ stopReason: 'end_turn' })
    expect(here.has('a.txt')).toBe(false)
    expect(zed.only(id, 'tool_call_update').at(-1)).toMatchObject({ status: 'failed', rawOutput: { ok: false, status } })
  })

  it('a call that went wrong is never completed', async () => {
    await using model = await scriptedModel([calls(['read_file', { path: 'no.txt' }], ['grep', { pattern: 'x' }]), say('Nothing.')])
    using here = place({ 'a.txt': 'a\n' })
    await using zed = await editor(here, { model })
    const id = await zed.open(here.dir)
    await zed.send(id, 'Read')
    const ends = zed.only(id, 'tool_call_update').filter(({ status }) => status === 'completed' || status === 'failed')
    // Nothing found is no failure.
    expect(ends.map(({ status }) => status).sort()).toEqual(['completed', 'failed'])
  })

  it('shows the task list as a plan, and no call', async () => {
    const items = [
      { text: 'Find it', status: 'completed' },
      { text: 'Fix it', status: 'in_progress' },
      { text: 'Give up', status: 'cancelled' },
    ]
    await using model = await scriptedModel([call('todo', { items }), say('On it.')])
    using here = place()
    await using zed = await editor(here, { model })
    const id = await zed.open(here.dir)
    await zed.send(id, 'Plan')
    expect(zed.only(id, 'plan').at(-1)?.entries).toEqual([
      { content: 'Find it', priority: 'medium', status: 'completed' },
      { content: 'Fix it', priority: 'medium', status: 'in_progress' },
    ])
    expect(zed.only(id, 'tool_call')).toEqual([])
  })
})

describe('cancel', () => {
  it('during a call: the call is ended, the turn is cancelled, and the next one works', async () => {
    await using model = await scriptedModel([call('bash', { command: 'sleep 1000' }), say('Again.')])
    using here = place()
    await using zed = await editor(here, { model, flags: { mode: 'auto' }, permission: () => 'once' })
    const id = await zed.open(here.dir)
    const turn = zed.send(id, 'Sleep')
    await zed.until(() => zed.only(id, 'tool_call_update').some(({ status }) => status === 'in_progress'))
    await zed.agent.notify('session/cancel', { sessionId: id })
    expect(await turn).toEqual({ stopReason: 'cancelled' })
    expect(zed.only(id, 'tool_call_update').at(-1)).toMatchObject({ status: 'failed' })
    expect(await zed.send(id, 'Again')).toEqual({ stopReason: 'end_turn' })
  })

  it('during a question: the late answer changes nothing', async () => {
    await using model = await scriptedModel([write('a.txt', 'a\n')])
    using here = place()
    const { promise, resolve } = Promise.withResolvers<string>()
    await using zed = await editor(here, { model, permission: () => promise })
    const id = await zed.open(here.dir)
    const turn = zed.send(id, 'Write')
    await zed.until(() => zed.asked.length > 0)
    await zed.agent.notify('session/cancel', { sessionId: id })
    expect(await turn).toEqual({ stopReason: 'cancelled' })
    resolve('once')
    await zed.leave()
    expect(here.has('a.txt')).toBe(false)
  })

  it('a second prompt during a turn is refused', async () => {
    await using model = await scriptedModel([write('a.txt', 'a\n')])
    using here = place()
    await using zed = await editor(here, { model, permission: () => new Promise<string>(() => undefined) })
    const id = await zed.open(here.dir)
    const turn = zed.send(id, 'Write')
    await zed.until(() => zed.asked.length > 0)
    expect(await failure(zed.send(id, 'And?'))).toMatchObject({ code: -32600, message: expect.stringContaining('is running') })
    await zed.agent.notify('session/cancel', { sessionId: id })
    await turn
  })
})

describe('a stored session', () => {
  it('is listed, loaded by another process with everything that was said, continued and deleted', async () => {
    await using model = await scriptedModel([
      think('Hm.', { ...write('a.txt', 'a\n'), text: 'I write.' }),
      call('todo', { items: [{ text: 'Write', status: 'completed' }] }),
      say('Written.'),
      say('Still there.'),
    ])
    using here = place()
    let id: string
    {
      await using zed = await editor(here, { model, permission: () => 'once' })
      id = await zed.open(here.dir)
      await zed.send(id, 'Write a')
      await zed.open(here.dir)
    }
    await using zed = await editor(here, { model })
    const { sessions } = await zed.agent.request('session/list', { cwd: here.dir })
    // A session without a prompt is not stored.
    expect(sessions.map(({ sessionId, cwd, title }) => [sessionId, cwd, title])).toEqual([[id, realpathSync(here.dir), 'Write a']])
    await zed.agent.request('session/load', { sessionId: id, cwd: here.dir, mcpServers: [] })
    expect([zed.said(id, 'user_message_chunk'), zed.said(id, 'agent_thought_chunk'), zed.said(id)]).toEqual([
      'Write a',
      'Hm.',
      'I write.Written.',
    ])
    expect(zed.only(id, 'tool_call').map(({ name }) => name)).toEqual(['write_file'])
    expect(zed.only(id, 'tool_call_update').at(-1)).toMatchObject({
      status: 'completed',
      content: [{ type: 'diff', path: join(here.dir, 'a.txt'), oldText: null, newText: 'a\n' }],
    })
    expect(zed.only(id, 'plan')).toHaveLength(1)
    expect(await zed.send(id, 'Is it?')).toEqual({ stopReason: 'end_turn' })
    expect(JSON.stringify(model.requests.at(-1)?.body)).toContain('Write a')
    await zed.agent.request('session/close', { sessionId: id })
    await zed.agent.request('session/delete', { sessionId: id })
    expect((await zed.agent.request('session/list', { cwd: here.dir })).sessions).toEqual([])
  })

  it('is resumed without a replay', async () => {
    await using model = await scriptedModel([say('One.'), say('Two.')])
    using here = place()
    await using zed = await editor(here, { model })
    const id = await zed.open(here.dir)
    await zed.send(id, 'One?')
    await zed.agent.request('session/close', { sessionId: id })
    await using again = await editor(here, { model })
    await again.agent.request('session/resume', { sessionId: id, cwd: here.dir })
    expect(again.said(id, 'user_message_chunk')).toBe('')
    await again.send(id, 'Two?')
    expect(again.said(id)).toBe('Two.')
  })

  it('unknown, or of another folder: an error that says so', async () => {
    await using model = await scriptedModel([say('One.')])
    using here = place()
    using other = place()
    await using zed = await editor(here, { model })
    const load = (sessionId: string, cwd: string) => failure(zed.agent.request('session/load', { sessionId, cwd, mcpServers: [] }))
    expect(await load('20260101-0000-abcdef', here.dir)).toMatchObject({ code: -32002 })
    expect(await failure(zed.send('20260101-0000-abcdef', 'Hi'))).toMatchObject({ code: -32002 })
    const id = await zed.open(here.dir)
    await zed.send(id, 'One?')
    expect(await load(id, other.dir)).toMatchObject({ code: -32602, message: expect.stringContaining('belongs to another folder') })
  })
})

describe('what is chosen', () => {
  it('counts for the next turn: mode, model and agent', async () => {
    await using model = await scriptedModel([write('a.txt', 'a\n'), say('Written.'), write('b.txt', 'b\n'), say('Not allowed.')])
    using here = place()
    await using zed = await editor(here, { model })
    const id = await zed.open(here.dir)
    await zed.agent.request('session/set_mode', { sessionId: id, modeId: 'auto-edit' })
    await zed.send(id, 'Write a')
    expect([zed.asked.length, here.has('a.txt')]).toEqual([0, true])
    const { configOptions } = await zed.agent.request('session/set_config_option', { sessionId: id, configId: 'mode', value: 'read-only' })
    expect(configOptions.find(({ id }) => id === 'mode')?.currentValue).toBe('read-only')
    expect(zed.only(id, 'current_mode_update').at(-1)?.currentModeId).toBe('read-only')
    await zed.send(id, 'Write b')
    expect(here.has('b.txt')).toBe(false)
    await zed.agent.request('session/set_config_option', { sessionId: id, configId: 'agent', value: 'plan' })
  })

  it('must be a known value', async () => {
    await using model = await scriptedModel([])
    using here = place()
    await using zed = await editor(here, { model })
    const sessionId = await zed.open(here.dir)
    const set = (configId: string, value: string) => failure(zed.agent.request('session/set_config_option', { sessionId, configId, value }))
    expect(await failure(zed.agent.request('session/set_mode', { sessionId, modeId: 'yolo' }))).toMatchObject({ code: -32602 })
    expect(await set('agent', 'bild')).toMatchObject({ message: expect.stringContaining('did you mean build?') })
    expect(await set('colour', 'red')).toMatchObject({ message: expect.stringContaining('mode, model and agent') })
  })
})

describe('the prompt', () => {
  it('mentions files, and carries what the editor embeds', async () => {
    await using model = await scriptedModel([say('Read.')])
    using here = place({ 'src/a.ts': 'a\n' })
    await using zed = await editor(here, { model })
    const id = await zed.open(here.dir)
    const uri = pathToFileURL(join(here.dir, 'src/a.ts')).href
    await zed.send(id, [
      { type: 'text', text: 'Look at ' },
      { type: 'resource_link', name: 'a.ts', uri },
      { type: 'text', text: ' and ' },
      { type: 'resource', resource: { uri: `${uri}#L1`, text: 'a ``` b' } },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
    ])
    const sent = JSON.stringify(model.requests[0]?.body)
    expect(sent).toContain(JSON.stringify('Look at @src/a.ts and @src/a.ts\n\nContent of @src/a.ts:\n````\na ``` b\n````').slice(1, -1))
    expect(sent).toContain("an image, which can't be read here")
  })

  it('runs own commands, which are announced', async () => {
    await using model = await scriptedModel([say('Reviewed.')])
    using here = place({
      '.mulligan/commands/review.md': '---\ndescription: Reviews a file\nargument-hint: FILE\n---\nReview $1 carefully.',
    })
    await using zed = await editor(here, { model })
    const id = await zed.open(here.dir)
    await zed.until(() => zed.only(id, 'available_commands_update').length > 0)
    expect(zed.only(id, 'available_commands_update')[0]?.availableCommands).toEqual([
      { name: 'review', description: 'Reviews a file', input: { hint: 'FILE' } },
    ])
    await zed.send(id, '/review a.ts')
    expect(JSON.stringify(model.requests[0]?.body)).toContain('Review a.ts carefully.')
  })

  it('empty: refused', async () => {
    await using model = await scriptedModel([])
    using here = place()
    await using zed = await editor(here, { model })
    const id = await zed.open(here.dir)
    expect(await failure(zed.send(id, ' '))).toMatchObject({ code: -32600, message: expect.stringContaining('empty') })
  })
})

describe('questions of the model', () => {
  const ask = call('ask_user', { question: 'Which one?', options: ['red', 'blue'] })
  it('are asked in a form', async () => {
    await using model = await scriptedModel([ask, say('Blue.')])
    using here = place()
    await using zed = await editor(here, {
      ...{ model, capabilities: { elicitation: { form: {} } } },
      elicitation: ({ message }) => ({ action: 'accept', content: { answer: `${message} blue` } }),
    })
    const id = await zed.open(here.dir)
    await zed.send(id, 'Choose')
    expect(JSON.stringify(model.requests[1]?.body)).toContain('Which one? blue')
  })

  it('without forms: as a choice', async () => {
    await using model = await scriptedModel([ask, say('Blue.')])
    using here = place()
    await using zed = await editor(here, { model, permission: () => '1' })
    const id = await zed.open(here.dir)
    await zed.send(id, 'Choose')
    expect(zed.asked[0]?.options.map(({ name }) => name)).toEqual(['red', 'blue', 'No answer'])
    expect(JSON.stringify(model.requests[1]?.body)).toContain('blue')
  })
})

describe('what can be wrong', () => {
  it.each([
    ['relative', 'work', /absolute path/],
    ['missing', '/no/such/folder', /can't be used: ENOENT/],
  ])('a %s folder', async (_, cwd, says) => {
    await using model = await scriptedModel([])
    using here = place()
    await using zed = await editor(here, { model })
    expect(await failure(zed.open(cwd))).toMatchObject({ code: -32602, message: expect.stringMatching(says) })
  })

  it('no model: the editor is told to set one up, and what to do', async () => {
    using here = place()
    await using zed = await editor(here)
    expect(await failure(zed.open(here.dir))).toMatchObject({
      code: -32000,
      message: expect.stringMatching(/none was found[\s\S]*ollama/i),
    })
    expect(zed.hello.authMethods?.map(({ id }) => id)).toEqual(['model'])
    await zed.agent.request('authenticate', { methodId: 'model' })
  })

  it('the model server fails: the prompt has an error', async () => {
    await using model = await scriptedModel([{ fault: { status: 400, message: 'no such thing' } }])
    using here = place()
    await using zed = await editor(here, { model })
    const id = await zed.open(here.dir)
    expect(await failure(zed.send(id, 'Hi'))).toMatchObject({ code: -32603, message: expect.stringContaining('no such thing') })
  })

  it('hostile text is harmless: escapes are removed, and output cannot leave its fence', async () => {
    const evil = '\u001b]0;title\u0007\u001b[2J<script>alert(1)</script>\n```\n# Approved\n'
    await using model = await scriptedModel([call('read_file', { path: 'evil.txt' }), say(`${evil}\u202e`)])
    using here = place({ 'evil.txt': evil })
    await using zed = await editor(here, { model })
    const id = await zed.open(here.dir)
    await zed.send(id, 'Read')
    const shown = JSON.stringify(zed.updates(id).filter(({ sessionUpdate }) => sessionUpdate !== 'tool_call'))
    expect(shown).not.toMatch(/\\u001b|\\u0007|\u202e/)
    const [part] = zed.only(id, 'tool_call_update').at(-1)?.content ?? []
    expect(part?.type === 'content' && part.content.type === 'text' && part.content.text).toMatch(/\n````\n[\s\S]*\n````$/)
  })

  it('a line of 5 MB of output is cut', async () => {
    await using model = await scriptedModel([call('read_file', { path: 'long.txt' }), say('Long.')])
    using here = place({ 'long.txt': 'x'.repeat(5_000_000) })
    await using zed = await editor(here, { model })
    const id = await zed.open(here.dir)
    await zed.send(id, 'Read')
    expect(JSON.stringify(zed.updates(id)).length).toBeLessThan(200_000)
  })

  it('MCP servers that are not supported are left out, and the session works', async () => {
    await using model = await scriptedModel([say('Hi.')])
    using here = place()
    await using zed = await editor(here, { model, capabilities: { session: { notices: {} } } })
    const id = await zed.open(here.dir, [
      { type: 'sse', name: 'old', url: 'http://127.0.0.1:1/', headers: [] },
      { name: 'leak', command: 'x', args: ['$' + '{SECRET}'], env: [] },
    ])
    await zed.until(() => zed.only(id, 'notice').length >= 2)
    expect(zed.only(id, 'notice').map(({ title }) => title)).toEqual([expect.stringContaining('old'), expect.stringContaining('leak')])
    await zed.send(id, 'Hi')
    expect(zed.said(id)).toBe('Hi.')
  })
})

it('two sessions at once share neither folder nor updates', async () => {
  await using model = await scriptedModel((request) =>
    JSON.stringify(request.body).includes('"role":"tool"')
      ? say('Done.')
      : write('made.txt', JSON.stringify(request.body).includes('Left') ? 'left' : 'right'),
  )
  using left = place()
  using right = place()
  await using zed = await editor(left, { model, flags: { mode: 'auto-edit' } })
  const ids = [await zed.open(left.dir), await zed.open(right.dir)] as const
  await Promise.all([zed.send(ids[0], 'Left'), zed.send(ids[1], 'Right')])
  expect([left.read('made.txt'), right.read('made.txt')]).toEqual(['left', 'right'])
  for (const id of ids) expect(zed.only(id, 'tool_call')).toHaveLength(1)
})
