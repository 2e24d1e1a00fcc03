/** A turn with tasks that kills its own process at a given point. The test runs this file as a program. */
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineTool } from '@mulligan/core'
import type { ScriptedModel } from '@mulligan/testing'
import { z } from 'zod'
import { agentModel, search } from '../agent.fixture.ts'
import { createAgent, openStore, type Store } from '../index.ts'
import { taskOf } from './task-result.ts'
import { EXPLORE, GENERAL } from './tasks.fixture.ts'

/** @param at a text that the tool kills at, `task ended`, or `never` */
export async function agentIn(folder: string, url: string, at: string) {
  const die = (point: string): void => {
    if (point === at) process.kill(process.pid, 'SIGKILL')
  }
  const append = defineTool({
    name: 'append',
    description: 'Appends a line.',
    effect: 'write',
    input: z.object({ text: z.string() }),
    target: ({ text }) => text,
    execute: ({ text }) => {
      appendFileSync(join(folder, 'effects'), `${text}\n`)
      die(text)
    },
  })
  /** Targets that only a person may allow. */
  const asked: string[] = []
  const opened = await openStore(join(folder, 'store.db'))
  const store: Store = {
    ...opened,
    saveCall: async (sessionId, turnId, record) => {
      if (taskOf(record)?.agent === 'general') die('task ended')
      await opened.saveCall(sessionId, turnId, record)
    },
  }
  const agent = createAgent({
    model: agentModel({ url, anthropicUrl: url } as ScriptedModel, 'openai'),
    ...{ tools: [search, append], store, cwd: folder, tasks: [EXPLORE, GENERAL] },
    approve: async ({ forced, target }) => {
      if (forced) asked.push(target)
      return { answer: forced ? 'no' : 'once' }
    },
  })
  return { agent, store, asked }
}

const { KILL_AT, KILL_DIR, KILL_URL } = process.env
if (KILL_AT && KILL_DIR && KILL_URL) {
  const { agent } = await agentIn(KILL_DIR, KILL_URL, KILL_AT)
  await agent.run({ prompt: 'do the work' })
}
