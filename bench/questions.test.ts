/** The table of questions in docs/approval.md matches the sessions. */
import { expect, test } from 'vitest'
import { pageText, tableUnder } from '../docs/page.fixture.ts'
import { BACKEND } from '../packages/tools/src/shell/shell.fixture.ts'
import { bench } from './questions.ts'

test.skipIf(BACKEND !== 'bubblewrap')(
  'docs/approval.md says how often a person is asked',
  async () => {
    const { rows } = await bench()
    const told = tableUnder(pageText('docs/approval.md'), 'Commands')
    expect(told).toEqual(rows.map(({ subject, values }) => [subject, ...Object.values(values).map(String)]))
    // The purpose of layers.
    for (const { values } of rows) expect(values['`ask`, on layers']).toBeLessThan(values['`ask`, before'] as number)
  },
  300_000,
)
