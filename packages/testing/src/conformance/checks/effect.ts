import type { Check } from '../check.ts'
import { notRun, pass, verdict } from '../report.ts'
import { callName } from '../say.ts'
import { changes } from '../workspace.ts'

/** A `read` changes nothing. A `write` that changes nothing is told as odd, not failed: to change nothing may have been right. */
export const effect: Check = {
  name: 'effect',
  run: async (subject) => {
    if (!subject.watchable) return notRun('no workspace to watch: give a function that makes the tools for one')
    const runs = (await subject.examples()).filter(({ example }) => example?.outcome === 'ok' || example?.outcome === 'empty')
    if (runs.length === 0) return notRun('no ok example to run')
    const changed = runs.map((run) => ({ run, paths: changes(run.observed.before, run.observed.after) }))
    if (subject.tool.effect === 'read')
      return verdict(
        changed.flatMap(({ run, paths }) => (paths.length > 0 ? [`it is a read, and ${callName(run)} changed ${paths.join(', ')}`] : [])),
      )
    const idle = subject.tool.effect === 'write' && changed.every(({ run, paths }) => paths.length === 0 && run.example?.why === undefined)
    return idle ? pass({ why: 'suspicious: it is a write, and its ok examples change nothing' }) : pass()
  },
}
