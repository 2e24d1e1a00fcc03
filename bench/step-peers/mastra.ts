/** Mastra's agent with its memory in libSQL, saved after each step. */
import { Agent } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import { LibSQLStore } from '@mastra/libsql'
import { Memory } from '@mastra/memory'
import { z } from 'zod'
import { scriptedModel } from '../script.ts'
import type { OpenPeer } from './peer.ts'

const look = createTool({
  id: 'look',
  description: 'Does nothing.',
  inputSchema: z.object({ path: z.string() }) as never,
  execute: async (input: unknown) => (input as { path: string }).path,
})

export const open: OpenPeer = (file) => {
  const memory = new Memory({ storage: new LibSQLStore({ id: 'bench', url: `file:${file}` }), options: { lastMessages: false } })
  let turn = 0
  return async (steps, onRequest) => {
    const model = scriptedModel(steps, onRequest) as never
    const agent = new Agent({ id: 'agent', name: 'agent', instructions: '', model, maxRetries: 0, tools: { look }, memory })
    const thread = `t${turn++}`
    const { steps: done } = await agent.generate('Look at the files.', {
      maxSteps: steps,
      savePerStep: true,
      memory: { thread, resource: 'bench' },
    })
    return done.length
  }
}
