/** Correct tools: they find something, find nothing, write, and send. */
import { appendFileSync } from 'node:fs'
import { defineTool, empty, ModelRetry, ok } from '@mulligan/core'
import { z } from 'zod'

const NOTES = ['plan for spring', 'plan for autumn', 'shopping']

export default [
  defineTool({
    name: 'search_notes',
    description: 'Searches the notes for a word.',
    effect: 'read',
    input: z.object({ query: z.string().min(1), limit: z.int().min(1).max(50).optional() }),
    execute: ({ query, limit = 10 }) => {
      const found = NOTES.filter((note) => note.includes(query)).slice(0, limit)
      return found.length > 0 ? ok(found, { count: found.length }) : empty([], `No note has "${query}".`)
    },
  }),
  defineTool({
    name: 'add_note',
    description: 'Adds a line to the notes.',
    effect: 'write',
    input: z.object({ text: z.string().min(1) }),
    target: () => 'notes.txt',
    execute: ({ text }) => {
      appendFileSync('notes.txt', `${text}\n`)
      return { added: text }
    },
  }),
  defineTool({
    name: 'send_note',
    description: 'Sends a note to a channel.',
    effect: 'external',
    input: z.object({ channel: z.string(), text: z.string() }),
    target: ({ channel }) => channel,
    execute: ({ channel, text }) => {
      if (!channel.startsWith('#'))
        throw new ModelRetry(`"${channel}" is not a channel.`, {
          parameter: 'channel',
          value: channel,
          constraint: 'a name that begins with #',
        })
      appendFileSync('sent.txt', `${channel} ${text}\n`)
      return { sent: channel }
    },
  }),
]
