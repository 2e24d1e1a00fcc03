/** The AI SDK's own `Chat`, which `useChat` is made of, and plain requests against the chat endpoints. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Chat } from '@ai-sdk/react'
import { call, calls, say, think } from '@mulligan/testing'
import { DefaultChatTransport, isToolUIPart, lastAssistantMessageIsCompleteWithApprovalResponses, type UIMessage } from 'ai'
import { expect, it } from 'vitest'
import { isEnd, type Serving, serving } from '../serving.fixture.ts'

const WRITE = call('write_file', { path: 'a.txt', content: 'hello\n' })

function chatOf({ server, model, dir }: Serving, id: string, messages: UIMessage[] = []) {
  const errors: Error[] = []
  const transport = new DefaultChatTransport({
    api: `${server.url}/api/chat`,
    headers: { authorization: `Bearer ${server.token}` },
    body: { cwd: dir, model: 'any', baseUrl: model.url },
  })
  const sendAutomaticallyWhen = lastAssistantMessageIsCompleteWithApprovalResponses
  const chat = new Chat({ id, messages, transport, sendAutomaticallyWhen, onError: (error) => errors.push(error) })
  return { chat, errors }
}

const shown = (messages: readonly UIMessage[]) =>
  messages.map(({ role, parts }) =>
    [role, ...parts.flatMap((part) => (part.type === 'text' ? [part.text] : isToolUIPart(part) ? [`${part.state}`] : []))].join(' | '),
  )

const approvalIn = (messages: readonly UIMessage[]) => {
  const parts = messages.at(-1)?.parts.filter(isToolUIPart) ?? []
  return parts.flatMap(({ state, approval }) => (state === 'approval-requested' && approval ? [approval] : []))
}

const history = async ({ api }: Serving, id: string): Promise<UIMessage[]> => (await api.get(`/api/chat/${id}/messages`)).body.messages

const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value))

/** Resolves when the chat has no request. */
async function settled({ chat }: ReturnType<typeof chatOf>, isDone: () => boolean): Promise<void> {
  while (!isDone() || chat.status === 'streaming' || chat.status === 'submitted') await new Promise((resolve) => setImmediate(resolve))
}

it('holds a conversation in a chat that the client has named, and gives it back after a reload', async () => {
  await using served = await serving([think('Let me see.', calls(['tree', {}])), say(['First', ' answer.']), say('Second.')])
  const { chat, errors } = chatOf(served, 'my-chat_1')
  await chat.resumeStream()
  expect([chat.status, await history(served, 'my-chat_1')]).toEqual(['ready', []])
  await chat.sendMessage({ text: 'one' })
  await chat.sendMessage({ text: 'two' })
  expect(shown(chat.messages)).toEqual(['user | one', 'assistant | output-available | First answer.', 'user | two', 'assistant | Second.'])
  expect([errors, served.model.violations]).toEqual([[], []])
  const loaded = await history(served, 'my-chat_1')
  expect(loaded.filter(({ role }) => role === 'assistant')).toEqual(
    JSON.parse(JSON.stringify(chat.messages.filter(({ role }) => role === 'assistant'))),
  )
  expect((await served.api.get('/api/sessions/my-chat_1')).body).toMatchObject({ title: 'one', turns: [{}, {}], cwd: served.dir })
})

it('asks for approval with what would change, and goes on in the same message', async () => {
  await using served = await serving([
    calls(['write_file', { path: 'a.txt', content: 'a\n' }], ['write_file', { path: 'b.txt', content: 'b\n' }]),
    say('One of them.'),
  ])
  const one = chatOf(served, 'chat')
  await one.chat.sendMessage({ text: 'write' })
  const [a] = approvalIn(one.chat.messages)
  expect(a).toMatchObject({ requestReason: 'it changes files', descriptor: { target: 'a.txt', diff: expect.stringContaining('+a') } })
  await one.chat.addToolApprovalResponse({ id: a?.id ?? '', approved: true })
  await settled(one, () => approvalIn(one.chat.messages)[0] !== undefined)
  const [b] = approvalIn(one.chat.messages)
  expect(b).toMatchObject({ descriptor: { target: 'b.txt' } })
  // Also after a reload, from a page that knows nothing but the id of the chat.
  const two = chatOf(served, 'chat', await history(served, 'chat'))
  expect(two.chat.messages.at(-1)).toEqual(plain(one.chat.messages.at(-1)))
  await two.chat.addToolApprovalResponse({ id: b?.id ?? '', approved: false, reason: 'not b' })
  await settled(two, () => two.chat.messages.at(-1)?.parts.at(-1)?.type === 'text')
  expect(shown(two.chat.messages)).toEqual(['user | write', 'assistant | output-available | output-denied | One of them.'])
  expect([readFileSync(join(served.dir, 'a.txt'), 'utf8'), one.errors, two.errors]).toEqual(['a\n', [], []])
  expect(JSON.stringify(served.model.requests.at(-1)?.body)).toContain('not b')
  expect(await history(served, 'chat')).toEqual(plain(two.chat.messages))
})

it('a question that was answered elsewhere: the same answer goes on, another one is refused', async () => {
  await using served = await serving([WRITE, say('Written.')])
  const one = chatOf(served, 'chat')
  await one.chat.sendMessage({ text: 'write' })
  const [first] = approvalIn(one.chat.messages)
  await served.api.post(`/api/approvals/${first?.id}`, { answer: 'session' })
  await one.chat.addToolApprovalResponse({ id: first?.id ?? '', approved: true })
  await settled(one, () => one.chat.messages.at(-1)?.parts.at(-1)?.type === 'text')
  expect(shown(one.chat.messages).at(-1)).toBe('assistant | output-available | Written.')

  await using other = await serving([WRITE, say('No.')])
  const two = chatOf(other, 'chat')
  await two.chat.sendMessage({ text: 'write' })
  const [second] = approvalIn(two.chat.messages)
  await other.api.post(`/api/approvals/${second?.id}`, { answer: 'no' })
  await two.chat.addToolApprovalResponse({ id: second?.id ?? '', approved: true })
  await settled(two, () => two.errors.length > 0)
  expect([two.chat.status, two.chat.error?.message]).toEqual(['error', expect.stringContaining('answered before')])
  expect(shown(two.chat.messages).at(-1)).toBe('assistant | approval-responded')
})

it('leaving is no stop: the reply goes on, is resumed from its beginning, and ends with an abort', async () => {
  await using served = await serving([{ text: ['So ', 'far ', 'and ', 'no further'], fault: { hang: 3 } }])
  const { api, server } = served
  const one = chatOf(served, 'chat')
  const sending = one.chat.sendMessage({ text: 'go' })
  const isBegun = (): boolean => shown(one.chat.messages).at(-1)?.startsWith('assistant | So') === true
  while (!isBegun()) await new Promise((resolve) => setImmediate(resolve))
  await one.chat.stop()
  await sending
  expect((await api.get('/api/sessions/chat')).body.status).toBe('running')

  const two = chatOf(served, 'chat', await history(served, 'chat'))
  const resuming = two.chat.resumeStream()
  const isResumed = (): boolean => shown(two.chat.messages).at(-1)?.startsWith('assistant | So') === true
  while (!isResumed()) await new Promise((resolve) => setImmediate(resolve))
  expect((await api.post('/api/sessions/chat/abort')).body).toEqual({ aborted: true })
  await resuming
  expect(two.chat.messages.map(({ role }) => role)).toEqual(['user', 'assistant'])
  expect(two.chat.messages.at(-1)).toMatchObject({ id: 'chat/1', metadata: { status: 'cancelled' } })
  expect((await history(served, 'chat')).at(-1)).toEqual(plain(two.chat.messages.at(-1)))
  const again = await fetch(`${server.url}/api/chat/chat/stream`, { headers: { authorization: `Bearer ${server.token}` } })
  expect([again.status, two.errors]).toEqual([204, []])
})

it('regenerates an answer, and sends an earlier message in other words', async () => {
  await using served = await serving(['One.', 'Two.', 'Two again.', 'Uno.', 'Dos.', 'Eins.'].map((text) => say(text)))
  const { chat, errors } = chatOf(served, 'chat')
  await chat.sendMessage({ text: 'one' })
  await chat.sendMessage({ text: 'two' })
  await chat.regenerate()
  expect(shown(chat.messages)).toEqual(['user | one', 'assistant | One.', 'user | two', 'assistant | Two again.'])
  await chat.sendMessage({ text: 'uno', messageId: chat.messages[0]?.id ?? '' })
  await chat.sendMessage({ text: 'dos' })
  expect(shown(chat.messages)).toEqual(['user | uno', 'assistant | Uno.', 'user | dos', 'assistant | Dos.'])
  expect(shown(await history(served, 'chat'))).toEqual(shown(chat.messages))
  const reloaded = chatOf(served, 'chat', await history(served, 'chat')).chat
  await reloaded.sendMessage({ text: 'eins', messageId: reloaded.messages[2]?.id ?? '' })
  expect(shown(await history(served, 'chat'))).toEqual(['user | uno', 'assistant | Uno.', 'user | eins', 'assistant | Eins.'])
  const sent = JSON.stringify(served.model.requests.at(-1)?.body)
  expect([sent.includes('uno'), sent.includes('dos'), errors]).toEqual([true, false, []])
})

it('a message that is sent twice is one turn, and a failed turn is an error', async () => {
  await using served = await serving([say('Once.'), { fault: { status: 400, message: 'no such model' } }])
  const { api, server } = served
  const id = await served.session()
  const send = async (messageId: string, text: string) => {
    const body = JSON.stringify({ id, messages: [{ id: messageId, role: 'user', parts: [{ type: 'text', text }] }] })
    const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' }
    return (await fetch(`${server.url}/api/chat`, { method: 'POST', headers, body })).text()
  }
  const first = await send('m1', 'go')
  expect(first).toContain('"type":"start","messageId"')
  expect(first.endsWith('data: [DONE]\n\n')).toBe(true)
  const lines = (text: string) => text.split('\n\n').filter((line) => !line.includes('-delta'))
  expect(lines(await send('m1', 'go'))).toEqual(lines(first))
  expect(await send('m1', 'other')).toContain('idempotency')
  expect(served.model.requests).toHaveLength(1)
  const failed = chatOf(served, id, await history(served, id))
  await failed.chat.sendMessage({ text: 'fail' })
  expect([failed.chat.status, failed.chat.error?.message]).toEqual(['error', expect.stringContaining('no such model')])
  expect((await api.get(`/api/sessions/${id}`)).body.turns).toHaveLength(2)
})

it('says what is wrong with a request', async () => {
  await using served = await serving([WRITE])
  const { api, dir, server } = served
  const user = (...parts: object[]) => ({ id: 'm1', role: 'user', parts })
  const post = async (body: object) => {
    const { status, body: answer } = await api.post('/api/chat', { cwd: dir, ...body })
    return [status, answer.error.message]
  }
  const text = { type: 'text', text: 'go' }
  expect(await post({ id: '../x', messages: [user(text)] })).toEqual([422, expect.stringContaining('the id of a chat')])
  expect(await post({ id: 'a', cwd: undefined, messages: [user(text)] })).toEqual([422, expect.stringContaining('needs a folder')])
  expect(await post({ id: 'a', messages: [] })).toEqual([422, expect.stringContaining('no message')])
  expect(await post({ id: 'a', messages: [user({ type: 'file', url: 'data:,' })] })).toEqual([422, expect.stringContaining('text only')])
  expect(await post({ id: 'a', messages: [user({ type: 'text', text: ' ' })] })).toEqual([422, expect.stringContaining('empty')])
  const id = await served.session()
  await api.post(`/api/sessions/${id}/turns`, { prompt: 'write' })
  await api.follow(id, isEnd)
  const answer = (approval: string, chat = id) =>
    post({
      id: chat,
      messages: [
        {
          id: 'x',
          role: 'assistant',
          parts: [{ type: 'dynamic-tool', state: 'approval-responded', approval: { id: approval, approved: true } }],
        },
      ],
    })
  expect(await answer('unknown')).toEqual([404, expect.stringContaining('no such question')])
  const [asked] = (await api.get('/api/approvals')).body.approvals
  // A question of another chat can't be answered from this one.
  expect(await answer(asked.id, await served.session())).toEqual([404, expect.stringContaining('no such question')])
  expect((await api.get('/api/approvals')).body.approvals).toHaveLength(1)
  expect(await post({ id, messages: [{ id: 'x', role: 'assistant', parts: [text] }] })).toEqual([422, expect.stringContaining('neither')])
  expect(await post({ id, trigger: 'regenerate-message', messages: [user({ type: 'text', text: 'something else' })] })).toEqual([
    409,
    expect.stringContaining('not the stored conversation'),
  ])
  expect((await fetch(`${server.url}/api/chat/${id}/stream`)).status).toBe(401)
})
