/** `/compact` summarizes the conversation so far. */
import { UsageError } from '@mulligan/host/light'
import type { SlashCommand } from './command.ts'

export const compact: SlashCommand = {
  name: 'compact',
  description: 'summarize the conversation to free context; happens automatically when the context is nearly full',
  run: async (_, { agent, session }) => {
    const id = session()
    // What it came to is told by its event.
    if (id === undefined || !(await agent().compact(id)))
      throw new UsageError('there is nothing to compact yet', 'It happens automatically when the context is nearly full.')
  },
}
