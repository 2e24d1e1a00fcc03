/**
 * `npm run bench [NAME...] [-- --json]`: measures the figures that the docs claim, with the built packages.
 * Asserts nothing: exits with 1 only if a benchmark does not run.
 */
import { existsSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { BENCHES } from './registry.ts'
import { markdown, type Table } from './table.ts'

const BUILT = ['core', 'agent'].map((name) => new URL(`../packages/${name}/dist/index.js`, import.meta.url))

function chosen(): { readonly names: readonly string[]; readonly json: boolean } {
  const { values, positionals } = parseArgs({ options: { json: { type: 'boolean', default: false } }, allowPositionals: true })
  const unknown = positionals.filter((name) => !Object.hasOwn(BENCHES, name))
  if (unknown.length > 0) throw new Error(`no benchmark ${unknown.join(', ')}; there are ${Object.keys(BENCHES).join(', ')}`)
  return { names: positionals.length > 0 ? positionals : Object.keys(BENCHES), json: values.json }
}

/** The machine on which the figures were measured. */
function machine() {
  const processors = cpus()
  return {
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    processor: processors[0]?.model.trim() || 'unknown processor',
    processors: processors.length,
    load: loadavg().map((load) => Number(load.toFixed(2))),
  }
}

async function main(): Promise<void> {
  const { names, json } = chosen()
  if (!BUILT.every((file) => existsSync(file))) throw new Error('the packages are not built: run `npm run build`')
  const on = machine()
  if (!json) console.log(`Node ${on.node}, ${on.platform}, ${on.processors} × ${on.processor}, load ${on.load.join(' ')} (1, 5, 15 min)\n`)
  const tables: Record<string, Table> = {}
  for (const name of names) {
    const { bench } = await (BENCHES[name] as (typeof BENCHES)[string])()
    const table = await bench()
    tables[name] = table
    if (!json) console.log(markdown(table))
  }
  if (json) console.log(JSON.stringify({ ...on, tables }, null, 2))
}

main().catch((error: unknown) => {
  console.error(`bench: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
})
