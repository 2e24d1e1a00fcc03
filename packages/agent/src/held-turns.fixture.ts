/**
 * Turns without a server around them, in a process that is killed: tests start this file as a program. Each turn has a connection to the
 * store of its own and can stop for good at one of the points before and after its commits.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { defineTool } from '@mulligan/core'
import { z } from 'zod'
import { createAgent, isOpen } from './index.ts'
import type { Driver } from './store/driver.ts'
import { isPostgresUrl } from './store/open.ts'
import { openPostgres } from './store/postgres.ts'
import { sqlStore } from './store/sql-store.ts'
import { openSqlite } from './store/sqlite.ts'
import { withoutIntents } from './store/without-intents.fixture.ts'

export interface HeldSettings {
  /** A file, or the address of a PostgreSQL database. */
  readonly place: string
  readonly modelUrl: string
  /** Where the tools send what they do. */
  readonly ledgerUrl: string
  /** Stores nothing of what is about to begin. Default: false. */
  readonly noIntents?: boolean
}

/** Runs a turn of a session, or goes on with it. */
export interface HeldTurn {
  readonly id: string
  readonly prompt: string
  /** The number of the turn in its session, from 1. */
  readonly turn: number
  /** The point at which it stops. Default: none */
  readonly holdAt?: number
  /** Milliseconds before it begins. Default: 0. */
  readonly after?: number
}

interface Told {
  readonly id: string
  /** Absent if it has stopped. */
  readonly status?: string
  /** The points it has passed. */
  readonly passed: number
}

export interface TurnsProcess {
  /** @param onHeld called with the id of a session whose turn has stopped @returns the turn's end; never if the process ends before */
  readonly run: (turn: HeldTurn, onHeld?: () => void) => Promise<{ readonly status: string; readonly passed: number }>
  readonly kill: () => Promise<void>
}

const PROGRAM = fileURLToPath(import.meta.url)

/** Starts a process for turns. */
export function startTurns(settings: HeldSettings): TurnsProcess {
  const env = { ...process.env, HELD_TURNS: JSON.stringify(settings) }
  const child: ChildProcess = spawn(process.execPath, [PROGRAM], { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const waiting = new Map<string, (told: Told) => void>()
  child.on('message', (told: Told) => waiting.get(told.id)?.(told))
  return {
    run: (turn, onHeld) =>
      new Promise((resolve) => {
        waiting.set(turn.id, ({ status, passed }) => (status === undefined ? onHeld?.() : resolve({ status, passed })))
        child.send(turn)
      }),
    kill: async () => {
      child.kill('SIGKILL')
      await exited
    },
  }
}

type Point = () => Promise<void>

/** Adds points around each commit of one connection. Renewals of a claim are none of a turn's steps. */
function gated(driver: Driver, pass: Point): Driver {
  async function around<T>(commit: () => T): Promise<Awaited<T>> {
    await pass()
    const done = await commit()
    await pass()
    return done
  }
  const isStep = (sql: string): boolean => /^(?:INSERT|UPDATE|DELETE)\b/.test(sql) && !sql.startsWith('UPDATE sessions SET lease_until')
  return {
    ...driver,
    write: (...given) => around(() => driver.write(...given)),
    all: (sql, ...given) => (isStep(sql) ? around(() => driver.all(sql, ...given)) : driver.all(sql, ...given)) as Promise<never>,
  }
}

/** The tools of the turns: each call is sent to the ledger. */
const toolsAt = (url: string) =>
  ([['look', 'read'] as const, ['append', 'write'] as const, ['post', 'external'] as const] as const).map(([name, effect]) =>
    defineTool({
      name,
      effect,
      description: `${name}s something`,
      input: z.object({ text: z.string() }),
      target: ({ text }) => text,
      retries: 1,
      execute: async ({ text }, { callId, signal }) => {
        const response = await fetch(url, { method: 'POST', body: JSON.stringify({ callId, effect, text }), signal })
        return { said: await response.text() }
      },
    }),
  )

const given = process.env['HELD_TURNS']
if (given !== undefined) {
  const { place, modelUrl, ledgerUrl, noIntents = false } = JSON.parse(given) as HeldSettings
  const model = createOpenAICompatible({ name: 'scripted', baseURL: modelUrl, includeUsage: true })('scripted')
  const tools = toolsAt(ledgerUrl)

  async function run({ id, prompt, turn, holdAt = Number.POSITIVE_INFINITY, after = 0 }: HeldTurn): Promise<void> {
    let passed = 0
    const pass: Point = () => {
      if (++passed < holdAt) return Promise.resolve()
      process.send?.({ id, passed })
      return new Promise(() => undefined)
    }
    const opened = sqlStore(gated(isPostgresUrl(place) ? await openPostgres(place) : openSqlite(place, () => undefined), pass))
    const store = noIntents ? withoutIntents(opened) : opened
    const agent = createAgent({
      ...{ store, tools, cwd: '/' },
      model: { id: 'openai/scripted', model, where: 'this machine', contextTokens: 32_768 },
      policy: ({ tool }) => ({ decision: tool === 'post' ? 'ask' : 'allow', reason: '' }),
      approve: async ({ target }, _, answer) => answer ?? { question: { target } },
    })
    await sleep(after)
    for (;;) {
      const last = (await store.turns(id))[turn - 1]
      if (last && !isOpen(last)) {
        process.send?.({ id, status: last.status, passed })
        return store.close()
      }
      for (const { id: asked } of last ? await store.approvals({ turnId: last.id, status: 'pending' }) : [])
        await store.answer(asked, { answer: 'once' })
      await (last ? agent.resume(id) : agent.run({ sessionId: id, prompt }))
    }
  }

  process.on('message', (turn: HeldTurn) => {
    run(turn).catch((error: Error) => process.send?.({ id: turn.id, status: String(error), passed: 0 }))
  })
  process.on('disconnect', () => process.exit())
}
