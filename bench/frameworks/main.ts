/**
 * `npm run compare`: what other frameworks make of the mistakes that models make. Installs them from the registry into a
 * temporary folder, runs each against the same scripted model over HTTP, and prints what happened. `--write` puts the table
 * into docs/comparison.md, `--only DRIVER,…` runs some of them, `--json` prints JSON.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { FRAMEWORKS, type Framework, load, seen } from './frameworks.ts'
import { MISTAKES } from './mistakes.ts'

const PAGE = join(import.meta.dirname, '..', '..', 'docs', 'comparison.md')
/** The table is between these two lines. */
const MARKS = ['<!-- npm run compare -- --write -->', '<!-- end -->'] as const

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { json: { type: 'boolean', default: false }, write: { type: 'boolean', default: false }, only: { type: 'string' } },
  })
  const chosen = FRAMEWORKS.filter(({ driver }) => values.only === undefined || values.only.split(',').includes(driver))
  const folder = install(chosen)
  try {
    const rows: { readonly mistake: string; readonly cells: readonly string[] }[] = []
    for (const mistake of MISTAKES) {
      const cells: string[] = []
      for (const framework of chosen) cells.push(mistake.verdict(await seen(await load(framework, folder), mistake)))
      rows.push({ mistake: mistake.title, cells })
    }
    const head = ['', ...chosen.map(({ name }) => name)]
    const table = [head, head.map(() => '---'), ...rows.map(({ mistake, cells }) => [mistake, ...cells])]
    const text = table.map((row) => `| ${row.join(' | ')} |`).join('\n')
    if (values.json) console.log(JSON.stringify({ frameworks: chosen.map(({ name }) => name), rows }, null, 2))
    else console.log(text)
    if (values.write) write(text)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function write(table: string): void {
  const page = readFileSync(PAGE, 'utf8')
  const [before, after] = MARKS.map((mark) => page.indexOf(mark)) as [number, number]
  if (before === -1 || after < before) throw new Error(`${PAGE} has no place for the table: ${MARKS.join(' … ')}`)
  writeFileSync(PAGE, `${page.slice(0, before + MARKS[0].length)}\n\n${table}\n\n${page.slice(after)}`)
}

/** @returns a folder in which the packages and the drivers are. */
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
