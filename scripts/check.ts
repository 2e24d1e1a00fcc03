/** Checks types, lint, format, the imports between packages, and how programs are started. Prints problems and exits with 1. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { cycles } from './cycles.ts'
import { wrongArrows, wrongInBrowser } from './dependencies.ts'
import { startedByName } from './started-programs.ts'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))

const run = (name: string, ...args: string[]): boolean => {
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' })
  if (status !== 0) console.error(`check: ${name} failed`)
  return status === 0
}

const wrong = [...wrongArrows(), ...wrongInBrowser(), ...cycles(), ...startedByName()]
for (const one of wrong) console.error(`check: ${one}`)
const passed = [
  wrong.length === 0,
  run('types', 'node_modules/typescript/bin/tsc', '-p', 'tsconfig.json'),
  run('types of the page', 'node_modules/typescript/bin/tsc', '-p', 'apps/web/tsconfig.json'),
  run('lint and format', 'node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.'),
]
process.exit(passed.every(Boolean) ? 0 : 1)
