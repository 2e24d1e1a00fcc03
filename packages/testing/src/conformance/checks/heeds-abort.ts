import type { Check } from '../check.ts'
import { notRun, verdict } from '../report.ts'

/** When its signal is aborted a tool ends within the grace; to finish at once is an end too. */
export const heedsAbort: Check = {
  name: 'heeds_abort',
  run: async ({ tool, right, scene, graceMs }) => {
    if (!right) return notRun('no ok example to run')
    const faults: string[] = []
    for (const abort of ['started', 'before'] as const) {
      const over = await scene(right.files ?? {}, async ({ call }) => (await call(tool.name, right.input, { abort })).over())
      const when = abort === 'before' ? 'aborted before it started' : 'aborted while it ran'
      if (!over) faults.push(`${when}, it had not ended ${graceMs} ms later`)
    }
    return verdict(faults)
  },
}
