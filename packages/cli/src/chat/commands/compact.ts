/** `/compact`: the conversation so far, in fewer words. */
import { UsageError } from '@mulligan/host/light'
import type { SlashCommand } from './command.ts'

export const compact: SlashCommand = {
  name: 'compact',
  description: 'make room: the conversation so far as a digest; a turn does so by itself when it has to',
  run: async (_, { agent, session }) => {
    const id = session()
    // What it came to is told by its event.
    if (id === undefined || !(await agent().compact(id)))
      throw new UsageError('there is nothing to compact yet', 'A turn does it by itself when the context is nearly full.')
  },
}
