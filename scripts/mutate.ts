/**
 * Removes each rule from the source in turn and runs its test, which must fail: `npm run mutate [id …]`. Exits with 1 if a rule can be
 * removed without a failing test, or if a test fails with all rules in place. Vitest is started once per worker and keeps running; between
 * two runs, only the file with the rule is reloaded.
 */
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { createVitest, type TestModule } from 'vitest/node'
import { MUTATIONS } from './mutations/index.ts'
import type { Mutation } from './mutations/mutation.ts'
import { mutation as takesOut } from './mutations/plugin.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
process.chdir(root)

/** Without its rule, a test hangs and counts as failed after this many milliseconds plus this multiple of its normal duration. */
const HANGS_AFTER = 10_000
const TIMES_LONGER = 3

interface Outcome {
  readonly passed: number
  readonly failed: number
  /** Duration of the longest test with that name, in milliseconds. */
  readonly longest: (name: string) => number
  readonly trouble?: string
}

interface Runner extends AsyncDisposable {
  /** Runs the tests with these names, without the rule. */
  readonly run: (
    file: string,
    names: readonly string[],
    out?: { readonly mutation: Mutation; readonly timeout: number },
  ) => Promise<Outcome>
}

async function createRunner(): Promise<Runner> {
  let chosen: Mutation | undefined
  const vitest = await createVitest(
    { watch: false, maxWorkers: 1, reporters: [{}], silent: true },
    { plugins: [takesOut(MUTATIONS, () => chosen)] },
  )
  const project = vitest.getRootProject()
  const { testTimeout } = project.config
  const run: Runner['run'] = async (file, names, out) => {
    const touched = [chosen, out?.mutation]
    chosen = out?.mutation
    for (const one of touched) if (one) vitest.invalidateFile(root + one.file)
    project.config.testTimeout = out?.timeout ?? testTimeout
    const testNamePattern = new RegExp(names.map((name) => name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|'))
    const specification = project.createSpecification(root + file, { testNamePattern })
    const { testModules, unhandledErrors } = await vitest.runTestSpecifications([specification])
    // Vitest's result also contains the files of earlier runs.
    return outcomeOf(
      testModules.filter(({ moduleId }) => moduleId === root + file),
      unhandledErrors,
    )
  }
  return { run, [Symbol.asyncDispose]: () => vitest.close() }
}

function outcomeOf(modules: readonly TestModule[], unhandled: readonly unknown[]): Outcome {
  const tests = modules.flatMap(({ children }) => [...children.allTests()])
  const count = (wanted: string): number => tests.filter((test) => test.result().state === wanted).length
  const longest = (name: string): number =>
    Math.max(0, ...tests.map((test) => (test.fullName.includes(name) ? (test.diagnostic()?.duration ?? 0) : 0)))
  const errors = [...modules.flatMap((module) => module.errors()), ...unhandled]
  const trouble = errors.map((error) => (error as Error).message ?? String(error)).join('\n')
  return { passed: count('passed'), failed: count('failed'), longest, ...(trouble && { trouble: trouble.slice(0, 600) }) }
}

/** In order, each by the next free runner. */
async function inParallel<T>(runners: readonly Runner[], items: readonly T[], work: (item: T, runner: Runner) => Promise<void>) {
  const queue = [...items]
  await Promise.all(
    runners.map(async (runner) => {
      for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item, runner)
    }),
  )
}

const asked = process.argv.slice(2)
const chosen = asked.length > 0 ? MUTATIONS.filter(({ id }) => asked.includes(id)) : MUTATIONS
const problems: string[] = []
const runners = await Promise.all(Array.from({ length: Math.min(availableParallelism() + 1, chosen.length) }, createRunner))

const groups = [...Map.groupBy(chosen, ({ test }) => test.file)].sort(([, one], [, other]) => other.length - one.length)
await inParallel(runners, groups, async ([file, mutations], { run }) => {
  const names = mutations.map(({ test }) => test.name)
  const control = await run(file, names)
  if (control.failed > 0 || control.passed === 0)
    problems.push(`${file} is not green with all rules in place: ${control.trouble ?? `${control.failed} failed`}`)
  for (const mutation of mutations) {
    const timeout = HANGS_AFTER + TIMES_LONGER * control.longest(mutation.test.name)
    const start = performance.now()
    const { failed, passed, trouble } = await run(file, [mutation.test.name], { mutation, timeout })
    const red = failed > 0
    const seconds = ((performance.now() - start) / 1000).toFixed(1)
    console.log(`${red ? 'red  ' : 'GREEN'} ${mutation.id.padEnd(28)} ${seconds.padStart(5)} s  ${mutation.rule}`)
    if (!red) problems.push(`${mutation.id}: "${mutation.test.name}" stays green without the rule (${trouble ?? `${passed} passed`})`)
  }
})

await Promise.all(runners.map((runner) => runner[Symbol.asyncDispose]()))
for (const problem of problems) console.error(`mutate: ${problem}`)
console.log(`${chosen.length - problems.length} of ${chosen.length} rules are guarded by a test that turns red without them`)
process.exit(problems.length > 0 ? 1 : 0)
