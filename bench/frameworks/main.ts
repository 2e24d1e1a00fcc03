/**
 * `npm run compare`: shows how other frameworks handle the mistakes of models and tools. Installs them from the registry into a
 * temporary folder, runs each against the same scripted model over HTTP, and prints what happened. `--write` puts the tables
 * and the code into docs/comparison.md, `--only DRIVER,…` runs some of them, `--json` prints JSON.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { DEFAULTS, type Framework, load, RECOMMENDED, seen } from './frameworks.ts'
import { type Row, replaced, settingsText, table } from './page.ts'
import { SCENARIOS } from './scenarios.ts'

const PAGE = join(import.meta.dirname, '..', '..', 'docs', 'comparison.md')
const TABLES: Readonly<Record<string, readonly Framework[]>> = { defaults: DEFAULTS, recommended: RECOMMENDED }

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { json: { type: 'boolean', default: false }, write: { type: 'boolean', default: false }, only: { type: 'string' } },
  })
  if (values.write && values.only !== undefined) throw new Error('--write needs all frameworks: leave out --only')
  const isChosen = ({ driver }: Framework): boolean => values.only === undefined || values.only.split(',').includes(driver)
  const folder = install(Object.values(TABLES).flat().filter(isChosen))
  try {
    const results: Record<string, unknown> = {}
    let page = readFileSync(PAGE, 'utf8')
    for (const [name, all] of Object.entries(TABLES)) {
      const chosen = all.filter(isChosen)
      const rows = await rowsOf(chosen, folder)
      const text = table(chosen, rows)
      page = values.write ? replaced(page, name, text) : page
      results[name] = {
        frameworks: chosen.map((framework) => framework.name),
        rows: rows.map(({ scenario, verdicts }) => ({ scenario: scenario.title, cells: verdicts.map(({ says }) => says) })),
      }
      if (!values.json) console.log(`${text}\n`)
    }
    if (values.json) console.log(JSON.stringify(results, null, 2))
    if (values.write) writeFileSync(PAGE, replaced(page, 'settings', settingsText()))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function rowsOf(frameworks: readonly Framework[], folder: string): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (const scenario of SCENARIOS) {
    const verdicts: Row['verdicts'][number][] = []
    for (const framework of frameworks) verdicts.push(scenario.verdict(await seen(await load(framework, folder), scenario)))
    rows.push({ scenario, verdicts })
  }
  return rows
}

/** @returns a folder with the packages */
function install(frameworks: readonly Framework[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'mulligan-frameworks-'))
  const packages: Record<string, string> = Object.assign({ zod: '4.6.7' }, ...frameworks.map(({ packages }) => packages))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  console.error(`Installing ${Object.keys(packages).join(', ')} …`)
  const names = Object.entries(packages).map(([name, version]) => `${name}@${version}`)
  const { status, stderr } = spawnSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', ...names], {
    cwd: folder,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`npm could not install them:\n${stderr}`)
  return folder
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(`compare: ${error instanceof Error ? error.message : String(error)}`)
    process.exit(1)
  },
)
