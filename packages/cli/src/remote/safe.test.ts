/** A server that sends escape sequences wherever it can. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { AgentEvent } from '@mulligan/agent'
import { expect, it, vi } from 'vitest'
import { version } from '../paths.ts'
import type { Output } from '../ui/output.ts'
import { reportTurn } from './run.ts'
import { safe, safeEvent } from './safe.ts'
import { connect, remoteSession } from './server.ts'

const EVIL = '\x1b]0;title\x07\x1b[2Jevil\x9b31m\x08'

/** The value with its texts and numbers replaced; only what the client needs to go on stays. */
const hostile = (value: unknown, key = ''): unknown => {
  if (['type', 'turnId', 'sessionId', 'callId', 'role', 'ok', 'id', 'status'].includes(key) && !(key === 'id' && typeof value === 'string'))
    return key === 'status' ? EVIL : value
  if (typeof value === 'string' || typeof value === 'number') return EVIL
  if (Array.isArray(value)) return value.map((one) => hostile(one))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, hostile(one, name)]))
}

const of = { sessionId: 's', turnId: 's/1', at: 1 }
const RESULT = { ok: false, status: 'failed', errorType: 'execution', error: 'no' }
const EVENTS = [
  { ...of, id: 1, type: 'turn.started', model: 'm', where: 'w', agent: 'a', prompt: 'p' },
  { ...of, id: 2, type: 'message.created', messageId: 'm', step: 1, attempt: 1, concluding: 'x' },
  { ...of, id: 3, type: 'context.compacted', before: 1, after: 1, contextTokens: 1, calls: 1 },
  { ...of, id: 4, type: 'tool.call', callId: 'c', tool: 't', input: { a: 'b' } },
  { ...of, id: 5, type: 'tool.delta', callId: 'c', tool: 't', message: 'm' },
  { ...of, id: 6, type: 'tool.result', callId: 'c', tool: 't', inputKey: '{}', result: RESULT, attempts: 2, durationMs: 1, effect: 'read' },
  { ...of, id: 7, type: 'usage', usage: { inputTokens: 1, outputTokens: 1 } },
  { ...of, id: 8, type: 'tool.closed', callId: 'c', tool: 't', until: 'x' },
  { ...of, id: 9, type: 'warning', message: 'm' },
  { ...of, id: 10, type: 'message.completed', messageId: 'm', message: { role: 'assistant', parts: [{ type: 'text', text: 'x' }] } },
  {
    ...{ ...of, id: 11, type: 'turn.ended' },
    outcome: {
      ...{
        sessionId: 's',
        turnId: 's/1',
        status: 'stopped',
        stoppedBy: 'x',
        answer: 'x',
        requests: 1,
        usage: { inputTokens: 1, outputTokens: 1 },
      },
      ledger: {
        changed: [{ callId: 'c', tool: 't', target: 't' }],
        failed: [{ tool: 't', target: 't', says: 'x', status: 'x' }],
        unknown: [],
      },
    },
  },
].map((event) => hostile(event) as AgentEvent)
const SESSION = hostile({ id: 's', title: 't', cwd: '/', createdAt: 1, updatedAt: 1, turns: 1, model: 'm' })

it('what it sends moves no cursor and sets no title', async () => {
  const server = createServer(({ url = '' }, response) => {
    if (url.endsWith('/events'))
      return response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .end(EVENTS.map((one) => `data: ${JSON.stringify(one)}\n\n`).join(''))
    const body = url === '/health' ? { status: 'ok', version: version() } : { sessions: [SESSION], messages: [], approvals: [] }
    return response.end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  vi.stubEnv('MULLIGAN_TOKEN', 'x'.repeat(20))
  try {
    let written = ''
    const add = (text: string): void => {
      written += text
    }
    const output: Output = { out: add, err: add, closed: new AbortController().signal, flush: async () => undefined }
    const remote = await connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, process.env)
    const session = await remoteSession(remote, undefined, '/')
    const interrupt = { signal: new AbortController().signal, trigger: () => undefined, dispose: () => undefined }
    await reportTurn(remote, session, { turnId: 's/1', after: 0, isWaiting: false }, { flags: {}, output, interrupt })
    add(`${session.id} ${session.cwd}`)
    expect(written).toContain('evil')
    expect(written.match(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g)).toBeNull()
  } finally {
    vi.unstubAllEnvs()
    server.closeAllConnections()
    server.close()
  }
})

it('leaves pieces of an answer to what shows them', () => {
  const piece = { ...of, type: 'message.part.delta', messageId: 'm', text: '\x1b' } as const
  expect([safeEvent(piece), safe({ text: '\x1b[2Jx', n: 1, list: [null, '\x07'] })]).toEqual([piece, { text: 'x', n: 1, list: [null, ''] }])
})
