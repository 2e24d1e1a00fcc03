/**
 * Runs the checks as the current user and prints each result. A test process runs as root and can't become another user and switch
 * back.
 */
import { createSandbox } from '../index.ts'
import { createBench } from './bench.fixture.ts'
import { CHECKS } from './checks.fixture.ts'

export interface Report {
  readonly group: string
  readonly name: string
  /** Null if the check passed. */
  readonly failure: string | null
}

const bench = await createBench({ open: (options) => createSandbox({ ...options, backend: 'bubblewrap' }) })
const reports: Report[] = []
for (const { group, name, run } of CHECKS) {
  const failure = await run(bench).then(
    () => null,
    (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error)),
  )
  reports.push({ group, name, failure })
  await bench.tidy()
}
await bench.close()
process.stdout.write(JSON.stringify(reports))
