/** `mulligan acp` as an editor starts it: the SDK's own client on the process's stdin and stdout. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { call, say, scriptedModel } from '@mulligan/testing'
import { expect, it } from 'vitest'
import { connect, type EditorOptions } from '../../../acp/src/editor.fixture.ts'
import { type CliFixture, place, trusted, using } from '../../test/cli.fixture.ts'

async function start(here: CliFixture, flags: readonly string[], options: EditorOptions = {}) {
  const running = here.start(['acp', ...flags], { stdin: { open: true }, env: { MULLIGAN_SANDBOX: 'none' } })
  const { child } = running
  // The fixture reads the output as text.
  const input = (Readable.toWeb(child.stdout) as ReadableStream<string>).pipeThrough(new TextEncoderStream())
  const editor = await connect(Writable.toWeb(child.stdin) as WritableStream<Uint8Array>, input, options)
  return { ...editor, ...running }
}

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

it('serves a session, keeps what tools print out of the protocol, and ends with 0 when the editor closes', async () => {
  await using model = await scriptedModel([call('loud', {}), call('write_file', { path: 'a.txt', content: 'a\n' }), say('Done.')])
  using here = trusted(
    place({
      '.mulligan/tools/loud.ts': `export default { name: 'loud', description: 'Prints.', effect: 'read', input: { type: 'object', properties: {} },
        execute: () => (console.log('{"jsonrpc":"2.0"}'), process.stdout.write('not json\\n'), 'printed') }`,
    }),
  )
  const zed = await start(here, using(model), { permission: () => 'once' })
  const id = await zed.open(here.dir)
  expect(await zed.send(id, 'Write')).toEqual({ stopReason: 'end_turn' })
  expect([zed.said(id).startsWith('Done.'), here.read('a.txt')]).toEqual([true, 'a\n'])
  zed.child.stdin.end()
  const { code, stderr } = await zed.ended
  expect([code, stderr]).toEqual([0, expect.stringContaining('not json')])
})

it('gives the model the tools of an MCP server that the editor hands over, and asks before each call', async () => {
  await using model = await scriptedModel([call('send', { text: 'one' }), call('send', { text: 'two' }), say('Sent.')])
  using here = place()
  const answers = ['once', 'no']
  const zed = await start(here, using(model), { permission: () => answers.shift() ?? 'no' })
  const args = [fileURLToPath(new URL('mcp/server.fixture.ts', import.meta.url)), join(here.dir, 'sent.txt')]
  const id = await zed.open(here.dir, [{ name: 'My post', command: process.execPath, args, env: [] }])
  await zed.send(id, 'Send')
  expect([zed.asked.length, here.read('sent.txt')]).toEqual([2, 'one\n'])
  zed.child.stdin.end()
  await zed.ended
})

it('a running command does not outlive the editor', async () => {
  await using model = await scriptedModel([call('bash', { command: 'echo $$ > pid; exec sleep 1000' })])
  using here = place()
  const zed = await start(here, [...using(model), '--mode', 'auto'], { permission: () => 'once' })
  const id = await zed.open(here.dir)
  const turn = zed.send(id, 'Sleep').catch(() => undefined)
  const file = join(here.dir, 'pid')
  while (!existsSync(file) || readFileSync(file, 'utf8') === '') await new Promise((resolve) => setTimeout(resolve, 10))
  const pid = Number(readFileSync(file, 'utf8'))
  expect(isRunning(pid)).toBe(true)
  zed.child.stdin.destroy()
  zed.child.stdout.destroy()
  expect((await zed.ended).code).toBe(0)
  await turn
  expect(isRunning(pid)).toBe(false)
})

it('killed during a call: the session loads with the call as failed, and continues', async () => {
  await using model = await scriptedModel([call('bash', { command: 'touch begun; exec sleep 1000' }), say('It was cut off.')])
  using here = place()
  const flags = [...using(model), '--mode', 'auto']
  const zed = await start(here, flags, { permission: () => 'once' })
  const id = await zed.open(here.dir)
  void zed.send(id, 'Sleep').catch(() => undefined)
  while (!here.has('begun')) await new Promise((resolve) => setTimeout(resolve, 10))
  zed.child.kill('SIGKILL')
  await zed.ended
  const again = await start(here, flags)
  await again.agent.request('session/load', { sessionId: id, cwd: here.dir, mcpServers: [] })
  expect(again.said(id, 'user_message_chunk')).toBe('Sleep')
  expect(again.only(id, 'tool_call_update').at(-1)).toMatchObject({ status: 'failed' })
  expect(await again.send(id, 'And?')).toEqual({ stopReason: 'end_turn' })
  expect(again.said(id)).toContain('It was cut off.')
  again.child.stdin.end()
  expect((await again.ended).code).toBe(0)
})
