/** Runs the checks as whoever started it, and prints how each went. A test process is root and can't become somebody else and back. */
import { createSandbox } from '../index.ts'
import { createBench } from './bench.fixture.ts'
import { CHECKS } from './checks.fixture.ts'

export interface Report {
  readonly group: string
  readonly name: string
  /** Null of one that passed. */
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
