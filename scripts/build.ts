/** Compiles every package to its `dist` in dependency order, and copies the texts that the tools read next to the code. */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle } from './bundle.ts'
import { buildPage } from './page.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
process.chdir(root)

const packages = globSync('packages/*/tsconfig.build.json').sort()
if (process.argv.includes('--clean')) for (const one of packages) rmSync(`${dirname(one)}/dist`, { recursive: true, force: true })

const { status } = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '-b', ...packages], { stdio: 'inherit' })
if (status !== 0) process.exit(status ?? 1)

// The output of deleted sources would be published.
for (const output of globSync('packages/*/dist/**/*.{js,d.ts,md}', { exclude: ['packages/cli/dist/bundle', 'packages/server/dist/web'] })) {
  const stem = output.replace('/dist/', '/src/').replace(/(?:\.d\.ts|\.js)$/, '')
  if (![stem, `${stem}.ts`, `${stem}.tsx`].some((source) => existsSync(source))) rmSync(output)
}

for (const text of globSync('packages/*/src/**/*.md')) {
  const target = text.replace('/src/', '/dist/')
  if (!existsSync(dirname(target))) mkdirSync(dirname(target), { recursive: true })
  cpSync(text, target)
}

await bundle()
await buildPage()
