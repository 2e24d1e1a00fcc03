/**
 * Takes each rule out of the source in turn and runs the test that guards it, which must turn red. `npm run mutate [id …]`.
 * Exits 1 when a rule can be taken out unnoticed, or when a test is red with all rules in place.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { MUTATIONS } from './mutations/index.ts'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))

interface Outcome {
  readonly passed: number
  readonly failed: number
  readonly trouble?: string
}

const reports = mkdtempSync(join(tmpdir(), 'mulligan-mutate-'))
let runs = 0

/** Runs the tests of those names, with the rule in place or taken out. */
function runTests(file: string, names: readonly string[], mutation?: string): Promise<Outcome> {
  const pattern = names.map((name) => name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|')
  const report = join(reports, `${mutation ?? 'control'}-${runs++}.json`)
  const args = ['node_modules/vitest/vitest.mjs', 'run', file, '-t', pattern, '--reporter=json', `--outputFile=${report}`]
  const child = spawn(process.execPath, args, {
    env: { ...process.env, MULLIGAN_MUTATION: mutation ?? '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said: Buffer[] = []
  child.stdout.on('data', (chunk) => said.push(chunk))
  child.stderr.on('data', (chunk) => said.push(chunk))
  return new Promise((resolve) => {
    child.on('close', () => {
      try {
        const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(report, 'utf8')) as {
          numPassedTests: number
          numFailedTests: number
        }
        resolve({ passed: numPassedTests, failed: numFailedTests })
      } catch {
        resolve({ passed: 0, failed: 0, trouble: Buffer.concat(said).toString().slice(-600) })
      }
    })
  })
}

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items]
  await Promise.all(
    Array.from({ length: availableParallelism() }, async () => {
      for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item)
    }),
  )
}

const asked = process.argv.slice(2)
const chosen = asked.length > 0 ? MUTATIONS.filter(({ id }) => asked.includes(id)) : MUTATIONS
const problems: string[] = []

await inParallel([...Map.groupBy(chosen, ({ test }) => test.file)], async ([file, mutations]) => {
  const control = await runTests(
    file,
    mutations.map(({ test }) => test.name),
  )
  if (control.failed > 0 || control.passed === 0)
    problems.push(`${file} is not green with all rules in place: ${control.trouble ?? `${control.failed} failed`}`)
})
await inParallel(chosen, async (mutation) => {
  const { failed, passed, trouble } = await runTests(mutation.test.file, [mutation.test.name], mutation.id)
  const red = failed > 0
  console.log(`${red ? 'red  ' : 'GREEN'} ${mutation.id.padEnd(24)} ${mutation.rule}`)
  if (!red) problems.push(`${mutation.id}: "${mutation.test.name}" stays green without the rule (${trouble ?? `${passed} passed`})`)
})

rmSync(reports, { recursive: true, force: true })
for (const problem of problems) console.error(`mutate: ${problem}`)
console.log(`${chosen.length - problems.length} of ${chosen.length} rules are guarded by a test that turns red without them`)
process.exit(problems.length > 0 ? 1 : 0)
