/**
 * The tests. `npm test` runs each rule's test once, on the best sandbox there is; `npm run test:all` adds more random cases, every other
 * backend and place, the packages as they are installed, and the mutations.
 */
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Files that only `npm run test:all` runs. */
const ONLY_IN_ALL = [
  'packages/*/src/**/fuzz.test.ts',
  'packages/sandbox/src/checks/{docker,podman}.test.ts',
  'packages/sandbox/src/backends/container/container.test.ts',
  'scripts/consumer/consumer.test.ts',
]

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
const all = process.argv.includes('--all')

const run = (...args: readonly string[]): boolean =>
  spawnSync(process.execPath, args, { stdio: 'inherit', env: { ...process.env, TESTS: all ? 'all' : '' } }).status === 0

for (const files of ONLY_IN_ALL) if (globSync(files).length === 0) throw new Error(`there is no ${files}`)
const left = all ? [] : ONLY_IN_ALL.flatMap((files) => ['--exclude', files])
const passed =
  run('scripts/check.ts') &&
  (!all || run('scripts/packages.ts')) &&
  run('node_modules/vitest/vitest.mjs', 'run', ...left) &&
  (!all || run('scripts/mutate.ts'))
process.exit(passed ? 0 : 1)
