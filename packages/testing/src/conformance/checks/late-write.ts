import type { Check } from '../check.ts'
import { notRun, verdict } from '../report.ts'
import { changes } from '../workspace.ts'

/** Seconds: hardly anything is done in that. */
const TINY_TIMEOUT = 0.01
/** Milliseconds in which work that was left running in the background shows itself. */
const QUIET_MS = 300

/** Once a timed-out call has its result, the tool changes nothing more. */
export const lateWrite: Check = {
  name: 'late_write',
  run: async ({ tool, right, scene, watchable, timeoutMs }) => {
    if (!right) return notRun('no ok example to run')
    if (!watchable) return notRun('no workspace to watch: give a function that makes the tools for one')
    return scene(right.files ?? {}, async ({ call, snapshot }) => {
      const { record, after, over, settled } = await call(tool.name, right.input, { timeout: TINY_TIMEOUT })
      if (record.result.ok && over()) return verdict([])
      await Promise.race([settled, pause(timeoutMs)])
      await pause(QUIET_MS)
      const changed = changes(after, await snapshot())
      return verdict(changed.length > 0 ? [`after its timeout it still changed ${changed.join(', ')}`] : [])
    })
  },
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
