/**
 * Runs the tests. `npm test` runs the test of each rule once, on the best sandbox available; `npm run test:all` adds more random cases,
 * the other backends and places, the packed packages, and the mutations.
 */
import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Files that only `npm run test:all` runs. */
const ONLY_IN_ALL = [
  'packages/*/src/**/fuzz.test.ts',
  'packages/sandbox/src/checks/{docker,podman}.test.ts',
  'packages/sandbox/src/backends/container/{container,leftovers}.test.ts',
  'packages/cli/src/commands/mcp/conformance-parts.test.ts',
  'packages/cli/src/commands/mcp/conformance.test.ts',
  'bench/questions.test.ts',
  'scripts/consumer/consumer.test.ts',
]

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
const all = process.argv.includes('--all')
/** Compiled modules, shared by all processes that the tests start. */
const compiled = mkdtempSync(join(tmpdir(), 'mulligan-tests-'))

const run = (args: readonly string[], scope = ''): boolean =>
  spawnSync(process.execPath, args, { stdio: 'inherit', env: { ...process.env, TESTS: scope, NODE_COMPILE_CACHE: compiled } }).status === 0

for (const files of ONLY_IN_ALL) if (globSync(files).length === 0) throw new Error(`there is no ${files}`)
const left = all ? [] : ONLY_IN_ALL.flatMap((files) => ['--exclude', files])
const passed =
  run(['scripts/check.ts']) &&
  (!all || run(['scripts/packages.ts'])) &&
  run(['node_modules/vitest/vitest.mjs', 'run', ...left], all ? 'all' : '') &&
  // Each rule must be guarded by what `npm test` runs.
  (!all || run(['scripts/mutate.ts']))
rmSync(compiled, { recursive: true, force: true })
process.exit(passed ? 0 : 1)
