/** A turn that kills its own process at a given point. The crash test runs this file as a program. */
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineTool } from '@mulligan/core'
import type { ScriptedModel } from '@mulligan/testing'
import { z } from 'zod'
import { agentModel, type Protocol, search } from './agent.fixture.ts'
import { type AgentEvent, createAgent, openStore, type Store } from './index.ts'

const append = (folder: string, die: () => void) =>
  defineTool({
    name: 'append',
    description: 'Appends a line.',
    effect: 'write',
    input: z.object({ text: z.string() }),
    execute: ({ text }) => {
      appendFileSync(join(folder, 'effects'), `${text}\n`)
      die()
    },
  })

interface Circumstances {
  /** Maximum number of tool calls. */
  readonly calls?: number
  /** The tool with effects no longer exists. */
  readonly gone?: boolean
  /** Nobody can be asked, and everything is approved in advance. */
  readonly yes?: boolean
}

async function agentIn(folder: string, server: ScriptedModel, protocol: Protocol, at: string, { calls, gone, yes }: Circumstances) {
  const die = (point: string) => {
    if (point === at) process.kill(process.pid, 'SIGKILL')
  }
  const opened = await openStore(existsSync(join(folder, 'place')) ? readFileSync(join(folder, 'place'), 'utf8') : join(folder, 'store.db'))
  const store: Store = {
    ...opened,
    saveCall: async (sessionId, turnId, record) => {
      die(`outcome not saved ${record.tool}`)
      await opened.saveCall(sessionId, turnId, record)
    },
    append: async (events, durable) => {
      const [kept] = events.filter(({ type }) => type === 'tool.result') as readonly Extract<AgentEvent, { type: 'tool.result' }>[]
      const isPoint = kept !== undefined && at === `outcome kept ${kept.tool}`
      await opened.append(events, durable || isPoint)
      // The outcome and its record are on disk, but its step is not.
      if (isPoint) die(at)
      // The intent is on disk, but the effect has not begun.
      for (const event of events) if (event.type === 'tool.started') die(`${event.type} ${event.tool}`)
    },
  }
  const agent = createAgent({
    model: agentModel(server, protocol),
    tools: gone ? [search] : [search, append(folder, () => die('effect'))],
    limits: calls === undefined ? {} : { calls },
    store,
    cwd: folder,
    approve: async ({ forced }) => ({ answer: yes && forced ? 'nobody' : 'once' }),
    onEvent: (event) => {
      if (event.type === 'message.created' || event.type === 'message.completed') die(`${event.type} ${event.step}`)
      if (event.type === 'tool.result') die(`${event.type} ${event.tool}`)
    },
  })
  return { agent, store }
}

/** Resumes the turn in the test's own process. */
export async function resumeTurn(folder: string, server: ScriptedModel, circumstances: Circumstances = {}) {
  const { agent, store } = await agentIn(folder, server, 'openai', 'never', circumstances)
  const [session] = await store.sessions()
  const outcome = await agent.resume(session?.id as string)
  await store.close()
  return outcome
}

/** Runs another turn of the session in the test's own process. */
export async function newTurn(folder: string, server: ScriptedModel, circumstances: Circumstances) {
  const { agent, store } = await agentIn(folder, server, 'openai', 'never', circumstances)
  const [session] = await store.sessions()
  const outcome = await agent.run({ sessionId: session?.id as string, prompt: 'go on' })
  await store.close()
  return outcome
}

const { CRASH_AT, CRASH_DIR, CRASH_URL = '', CRASH_PROTOCOL, CRASH_CALLS } = process.env
if (CRASH_AT && CRASH_DIR) {
  const server = { url: CRASH_URL, anthropicUrl: CRASH_URL } as ScriptedModel
  const { agent } = await agentIn(
    CRASH_DIR,
    server,
    CRASH_PROTOCOL as Protocol,
    CRASH_AT,
    CRASH_CALLS ? { calls: Number(CRASH_CALLS) } : {},
  )
  await agent.run({ prompt: 'go' })
}
