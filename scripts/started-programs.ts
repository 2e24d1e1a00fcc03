/**
 * Checks how shipped code starts processes and threads. Programs are started with `startProgram` and `runProgram` of the sandbox, which
 * accept only absolute paths, and workers from a file next to the one that starts them, so that a name never runs a project's program.
 */
import { globSync, readFileSync } from 'node:fs'

/** The one file that may call `node:child_process`. The launcher runs before anything else, and starts Node by its path. */
const STARTER = 'packages/sandbox/src/program.ts'
const LAUNCHER = 'packages/cli/bin/mulligan.js'

/** Any mention of the module except in a type import, so that a renamed loader is found too. */
const MODULE = /(?<!^import type [^\n]*)['"`](?:node:)?(?:child_process|cluster)['"`]/gm
const WORKER = /new\s+(?:\w+\.)?(?:Worker|SharedWorker)\(\s*([^,)]*)/g

export function startedByName(
  files: readonly string[] = globSync('packages/*/{src,bin}/**/*.{ts,tsx,js,mjs,cjs}'),
  read = (file: string) => readFileSync(file, 'utf8'),
): string[] {
  const wrong: string[] = []
  for (const file of files) {
    if (/\.(test|fixture)\.tsx?$/.test(file) || file.includes('/fixtures/')) continue
    const code = read(file)
    const mayStart = file === STARTER || file === LAUNCHER
    if (!mayStart && code.match(MODULE)) wrong.push(`${file} starts programs itself: use startProgram or runProgram of @mulligan/sandbox`)
    for (const [, what = ''] of code.matchAll(WORKER))
      if (!new RegExp(`const ${what.trim()} = new URL\\([^\\n]*import\\.meta\\.url\\)`).test(code))
        wrong.push(`${file} starts a worker from ${what.trim()}, which is not a file beside it`)
  }
  return wrong
}
