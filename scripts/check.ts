/** Types, lint, format and the direction of dependencies, in one. Prints what is wrong and exits 1. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { wrongArrows } from './dependencies.ts'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))

const run = (name: string, ...args: string[]): boolean => {
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' })
  if (status !== 0) console.error(`check: ${name} failed`)
  return status === 0
}

const arrows = wrongArrows()
for (const arrow of arrows) console.error(`check: ${arrow}`)
const passed = [
  arrows.length === 0,
  run('types', 'node_modules/typescript/bin/tsc', '-p', 'tsconfig.json'),
  run('lint and format', 'node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.'),
]
process.exit(passed.every(Boolean) ? 0 : 1)
