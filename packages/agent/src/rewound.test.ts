import { expect, it } from 'vitest'
import type { AgentEvent } from './events.ts'
import { currentCompaction } from './rewound.ts'

const compacted = (turn: number, covers: string): AgentEvent =>
  ({ type: 'context.compacted', sessionId: 's', turnId: `s/${turn}`, at: 0, covers, digest: `up to ${covers}` }) as never
const rewound = (from: number, turn: number): AgentEvent =>
  ({ type: 'session.rewound', sessionId: 's', turnId: `s/${turn}`, at: 0, from: `s/${from}`, scope: 'both', undo: [] }) as never

it('a compaction is left out if it tells of turns that were taken back since', () => {
  const first = compacted(3, 's/2/1')
  const second = compacted(6, 's/5/2')
  expect(currentCompaction([first, second])).toBe(second)
  expect(currentCompaction([first, second, rewound(6, 6)])).toBe(second)
  expect(currentCompaction([first, second, rewound(4, 6)])).toBe(first)
  expect(currentCompaction([first, second, rewound(2, 6)])).toBeUndefined()
  expect(currentCompaction([first, second, rewound(2, 6), compacted(8, 's/7/1')])).toMatchObject({ covers: 's/7/1' })
})
