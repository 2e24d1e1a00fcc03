/** Tests what the user sees of an eval. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { record, reportOn, someRecords } from '../../../../eval/src/record.fixture.ts'
import type { Output } from '../../ui/output.ts'
import { progress } from './eval.ts'
import { reportLines } from './report-lines.ts'

it('whatever was measured, the tables say whether it is all', () => {
  fc.assert(
    fc.property(someRecords, (records) => {
      const report = reportOn(records)
      expect(reportLines(report).join('\n')).toMatch(report.complete ? /^(?![\s\S]*INCOMPLETE)/ : /INCOMPLETE: \d+ of 72/)
    }),
    { numRuns: 20 },
  )
})

it('in a terminal the run that continues is shown and taken away again; elsewhere there are lines alone', () => {
  const shown = (isTerminal: boolean): string => {
    let text = ''
    const output: Output = {
      out: () => undefined,
      err: (more) => {
        text += more
      },
      closed: new AbortController().signal,
      flush: async () => undefined,
    }
    let now = 0
    const view = progress(output, 10, 2, isTerminal, () => now)
    view.begin({ task: 'task-0', run: 1, arm: 'bare' })
    now = 60_000
    view.end(record('task-0', 1, 'bare', 'failed', { says: 'it lacks \u001b[31m42' }))
    view.begin({ task: 'task-1', run: 1, arm: 'full' })
    view.clear()
    return text
  }
  expect(shown(false)).toBe('[ 3/10] ✗ task-0 bare 2 requests 1.0 s (wrong answer: it lacks 42)\n')
  expect(shown(true).split('\r\u001b[K')).toEqual([
    '',
    '[2/10] task-0 bare …',
    '[ 3/10] ✗ task-0 bare 2 requests 1.0 s (wrong answer: it lacks 42)\n',
    '[3/10] task-1 full …, about 7 min left',
    '',
  ])
})
