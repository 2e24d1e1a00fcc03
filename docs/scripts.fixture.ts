/** What the scripted models behind the transcripts say, by the name that a block gives: `sh run script=budget`. */
import { call, type ScriptedTurn, say } from '@mulligan/testing'

export interface Scripted {
  readonly files: Readonly<Record<string, string>>
  readonly turns: readonly ScriptedTurn[]
}

/** Stands in the pages for the address of the scripted model. */
export const BASE_URL = 'http://localhost:8080/v1'

export const SCRIPTS: Readonly<Record<string, Scripted>> = {
  budget: {
    files: { 'notes/plan.md': 'The budget for 2027 is 40,000.\n', 'notes/trips.md': 'Lisbon in May.\n' },
    turns: [
      call('grep', { pattern: 'budget', limit: '20' }),
      call('read_file', { file_path: 'notes/plans.md' }),
      call('read_file', { path: 'notes/plan.md' }),
      call('write_file', { path: 'notes/summary.md', content: 'Budget 2027: 40,000\n' }),
      say('The budget for 2027 is 40,000. I wrote that to notes/summary.md.'),
    ],
  },
  unapproved: {
    files: {},
    turns: [call('write_file', { path: 'a.md', content: 'x\n' }), say('I was not allowed to write a.md.')],
  },
}
