/**
 * Measures the chat in a pseudoterminal: the time until its input is there, with a new session and with one of 5,000 messages, and the time
 * from a key to its character on the screen, while nothing happens and while an answer streams.
 */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openStore } from '@mulligan/agent'
import { type Go, inTurns } from './measure.ts'
import { median, quantile } from './stats.ts'
import type { Row, Table } from './table.ts'

const TITLE = 'chat: in a terminal'
const ROUNDS = 7
const MESSAGES = 5000
const SESSION = 'long'
/** Tokens of the streamed answer a second, and how many there are. */
const RATE = 200
const TOKENS = 3000
/** Milliseconds between two keys. */
const BETWEEN_KEYS = 47
const KEYS = 200
const MORE_AT_MOST = 300
const KEY_AT_MOST = 16

const bin = fileURLToPath(new URL('../packages/cli/bin/mulligan.js', import.meta.url))
/** The command of another checkout, to compare with. */
const before = process.env['MULLIGAN_BENCH_BEFORE']

interface Terminal {
  readonly child: ChildProcessWithoutNullStreams
  /** Resolves with the time at which the text has been written since the last call. */
  readonly until: (text: string) => Promise<number>
  readonly end: () => Promise<void>
}

function openTerminal(script: string, args: readonly string[], folder: string): Terminal {
  const command = [process.execPath, script, ...args].map((word) => `'${word}'`).join(' ')
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder, MULLIGAN_DATA_DIR: join(folder, 'data'), NO_COLOR: '1', TERM: 'xterm' }
  const child = spawn('script', ['-qefc', `stty cols 100 rows 40; exec ${command}`, '/dev/null'], { cwd: folder, env, detached: true })
  let unread = ''
  let wanted: { readonly text: string; readonly found: (at: number) => void } | undefined
  const look = (): void => {
    const at = wanted ? unread.indexOf(wanted.text) : -1
    if (!wanted || at === -1) return
    unread = unread.slice(at + wanted.text.length)
    const { found } = wanted
    wanted = undefined
    found(performance.now())
  }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    unread = (unread + text).slice(-200_000)
    look()
  })
  const ended = once(child, 'exit')
  return {
    child,
    until: (text) =>
      Promise.race([
        new Promise<number>((found) => {
          wanted = { text, found }
          look()
        }),
        sleep(30_000).then(() => {
          throw new Error(`The chat never showed ${JSON.stringify(text)}: ${JSON.stringify(unread.slice(-500))}`)
        }),
      ]),
    end: async () => {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL')
      await ended
    },
  }
}

/** The status line is drawn together with the input. */
const READY = 'mode ask · context'

/** Measures the time until the input of the chat is there. @param folder the home of the user, and where it starts */
export const opened =
  (script: string, folder: string, args: readonly string[]): Go =>
  async () => {
    const start = performance.now()
    const terminal = openTerminal(script, ['chat', ...args], folder)
    try {
      return [(await terminal.until(READY)) - start]
    } finally {
      await terminal.end()
    }
  }

/** Types while the server streams or not. @returns milliseconds from each key to its character */
async function keyTimes(folder: string, args: readonly string[], prompt: string | undefined): Promise<number[]> {
  const terminal = openTerminal(bin, ['chat', ...args], folder)
  const times: number[] = []
  try {
    await terminal.until(READY)
    await sleep(500)
    if (prompt !== undefined) {
      terminal.child.stdin.write(prompt)
      await sleep(300)
      terminal.child.stdin.write('\r')
      await terminal.until('token 20 ')
    }
    let typed = ''
    for (let at = 0; at < KEYS; at++) {
      // Letters in an order that occurs nowhere else on the screen.
      typed += String.fromCharCode(0x5a - (at % 26))
      const shown = terminal.until(typed.slice(-8))
      const start = performance.now()
      terminal.child.stdin.write(typed.slice(-1))
      times.push((await shown) - start)
      // One row of the input, so that the end of what was typed is never broken in two.
      if (at % 40 === 39) {
        terminal.child.stdin.write('\x15')
        typed = ''
        await sleep(100)
      }
      await sleep(BETWEEN_KEYS)
    }
    return times
  } finally {
    await terminal.end()
  }
}

/** Answers with {@link TOKENS} tokens, {@link RATE} a second. */
async function stream(response: ServerResponse): Promise<void> {
  const chunk = (delta: object, reason: string | null): void => {
    const choices = [{ index: 0, delta, finish_reason: reason }]
    response.write(`data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 0, model: 'any', choices })}\n\n`)
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const start = performance.now()
  for (let sent = 0; sent < TOKENS && !response.destroyed; ) {
    const due = Math.min(TOKENS, Math.floor(((performance.now() - start) * RATE) / 1000))
    for (; sent < due; sent++) chunk({ content: `token ${sent} ${sent % 12 === 11 ? '\n' : ''}${sent % 60 === 59 ? '\n' : ''}` }, null)
    await sleep(1000 / RATE)
  }
  chunk({}, 'stop')
  response.end('data: [DONE]\n\n')
}

/** Stores a session of {@link MESSAGES} messages, a request and its answer by turns. */
async function plant(folder: string, cwd: string): Promise<void> {
  const store = await openStore(join(folder, 'data', 'mulligan.db'))
  await store.createSession({ id: SESSION, cwd, title: 'A long session' })
  const usage = { inputTokens: 1000, outputTokens: 100 }
  for (let turn = 1, id = 0; turn <= MESSAGES / 2; turn++) {
    const turnId = `${SESSION}/${turn}`
    const [prompt, answer] = [`Question ${turn}?`, `Answer ${turn}: ${'some words of an answer, '.repeat(20)}\n\n- a point\n- another\n`]
    const at = { sessionId: SESSION, turnId, at: Date.now() }
    const message = { role: 'assistant', id: `${turnId}/1`, turnId, step: 1, parts: [{ type: 'text', text: answer }] } as const
    const reply = { ...message, model: 'openai-compatible/any', finishReason: 'stop', usage }
    const ledger = { changed: [], failed: [], unknown: [] }
    const outcome = { sessionId: SESSION, turnId, status: 'answered', answer, ledger, usage, requests: 1 } as const
    await store.startTurn(
      { id: turnId, sessionId: SESSION, prompt, model: 'openai-compatible/any' },
      { role: 'user', id: `${turnId}/0`, turnId, text: prompt },
    )
    const began = { type: 'turn.started', prompt, model: 'openai-compatible/any', where: 'this machine', resumed: false } as const
    await store.append([{ ...began, ...at, id: ++id }], false)
    await store.saveMessage(SESSION, reply)
    await store.append([{ type: 'message.completed', messageId: reply.id, step: 1, message: reply, ...at, id: ++id }], false)
    await store.endTurn(outcome)
    await store.append([{ type: 'turn.ended', outcome, ...at, id: ++id }], false)
  }
  await store.close()
}

export const isPossible = (): boolean =>
  process.platform === 'linux' && /util-linux/.test(spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout ?? '')

export async function bench(): Promise<Table> {
  if (!isPossible()) return { title: TITLE, note: 'Skipped: there is no `script` of util-linux.', rows: [] }
  if (!existsSync(bin.replace('bin/mulligan.js', 'dist/main.js')))
    return { title: TITLE, note: 'Skipped: packages/cli is not built (`npm run build`).', rows: [] }
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'mulligan-bench-')))
  const server = createServer((request, response) => {
    request.resume()
    if (request.method === 'POST') void stream(response)
    else response.end('{"object":"list","data":[]}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const args = ['--model', 'any', '--base-url', `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`]
  try {
    await plant(folder, folder)
    const starts = await inTurns(
      {
        'start, a new session': opened(bin, folder, args),
        [`start, a session of ${MESSAGES.toLocaleString('en-US')} messages`]: opened(bin, folder, [...args, '--session', SESSION]),
        ...(before !== undefined && { 'start, a new session, before': opened(before, folder, args) }),
      } as Record<string, Go>,
      { warmUp: 2, rounds: ROUNDS },
    )
    const yardstick = starts['start, a new session'] ?? []
    const rows = Object.entries(starts).map(([subject, ms]): Row => {
      // Round by round, since the load of the machine changes between them.
      const more = median(ms.map((one, round) => one - (yardstick[round] ?? one)))
      const isLong = subject.includes('messages')
      return {
        subject,
        values: { 'median ms': median(ms), 'p95 ms': quantile(ms, 0.95), 'more than a new session, ms': more },
        ...(isLong && { aim: { says: `< ${MORE_AT_MOST} ms more`, met: more < MORE_AT_MOST } }),
      }
    })
    for (const [subject, prompt] of [
      ['a key, idle', undefined],
      [`a key, while ${RATE} tokens/s stream`, 'stream'],
    ] as const) {
      const ms = await keyTimes(folder, args, prompt)
      const typical = median(ms)
      const aim = { says: `median < ${KEY_AT_MOST} ms`, met: typical < KEY_AT_MOST }
      rows.push({ subject, values: { 'median ms': typical, 'p95 ms': quantile(ms, 0.95) }, aim })
    }
    const note = `Medians of ${ROUNDS} starts, interleaved, to the first status line; ${KEYS} keys each, from the write into the terminal to the character in its output.`
    return { title: TITLE, note, rows }
  } finally {
    server.closeAllConnections()
    server.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
