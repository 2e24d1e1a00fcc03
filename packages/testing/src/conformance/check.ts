import type { Verdict } from './report.ts'
import type { Subject } from './subject.ts'

/** One thing that is asked of every tool. A fault is reported by one check only, the one that names it best. */
export interface Check {
  readonly name: string
  readonly run: (subject: Subject) => Promise<Verdict>
}
