/** Tools that take too long and ignore their signal. Files in the workspace show their progress. */
import { appendFileSync, existsSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { defineTool, ok } from '@mulligan/core'
import { z } from 'zod'

async function until(file: string): Promise<void> {
  while (!existsSync(file)) await sleep(10)
}

export default [
  defineTool({
    name: 'hang',
    description: 'Reads something that never comes.',
    effect: 'read',
    input: z.object({ topic: z.string() }),
    execute: async () => {
      writeFileSync('hanging', '')
      await until('never')
    },
  }),
  defineTool({
    name: 'hang_write',
    description: 'Writes, and never says that it has.',
    effect: 'write',
    input: z.object({ text: z.string() }),
    target: ({ text }) => text,
    execute: async ({ text }) => {
      appendFileSync('written.txt', `${text}\n`)
      writeFileSync('hanging', '')
      await until('never')
    },
  }),
  defineTool({
    name: 'slow_read',
    description: 'Reads something that takes too long.',
    effect: 'read',
    timeout: 0.2,
    input: z.object({ topic: z.string() }),
    execute: () => until('never'),
  }),
  defineTool({
    name: 'slow_send',
    description: 'Sends something, which takes too long.',
    effect: 'external',
    timeout: 0.2,
    input: z.object({ to: z.string(), text: z.string() }),
    target: ({ to }) => to,
    execute: async ({ to, text }) => {
      appendFileSync('sent.txt', `${to} ${text}\n`)
      await until('release')
      writeFileSync('released', '')
      return { sent: to }
    },
  }),
  defineTool({
    name: 'wait_for',
    description: 'Waits until a file is there.',
    effect: 'read',
    input: z.object({ file: z.string() }),
    execute: async ({ file }) => {
      await until(file)
      return ok(`${file} is there.`)
    },
  }),
]
