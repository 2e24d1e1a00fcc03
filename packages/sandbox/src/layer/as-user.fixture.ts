/** Runs the layer checks as the current user and prints each result. */
import { createLayerBench } from './bench.fixture.ts'
import { LAYER_CHECKS } from './checks.fixture.ts'

const reports: { name: string; failure: string | null }[] = []
for (const { name, run } of LAYER_CHECKS) {
  const bench = createLayerBench()
  const failure = await run(bench).then(
    () => null,
    (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error)),
  )
  await bench.close()
  reports.push({ name, failure })
}
process.stdout.write(JSON.stringify(reports))
