/**
 * Measures how many rows of some files `mulligan parse --jsonl` parses correctly: `npm run rates -- FILE…`. A row states what is
 * expected of it in one of these ways:
 *
 * - `{ id, raw, tools, expected_calls, family?, kind? }`: a reply as text, and the calls in it
 * - `{ id, call, tools, expected: { action: 'call' | 'calls' | 'error', … } }`: a reported call
 * - `{ id, raw, expected, cut? }`: the text of one call's arguments, and the object; `cut`: refusing it is correct too
 *
 * For a folder (`npm run rates -- DIR`), it prints how many recorded replies of each model are parsed correctly by the model's official
 * parser and by this one: see `recorded.ts`. `--write` puts that table into docs/repair.md.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual, parseArgs } from 'node:util'
import { callsIn, recordedIn } from './recorded.ts'

interface Call {
  readonly name: string
  readonly arguments: unknown
}

interface Row {
  readonly id: string
  readonly raw?: string
  readonly kind?: string
  readonly family?: string
  readonly tools?: readonly { readonly name: string; readonly effect?: string }[]
  readonly expected_calls?: readonly Call[]
  readonly cut?: boolean
  readonly expected?: { readonly action?: string; readonly calls?: readonly Call[]; readonly must_mention?: readonly string[] }
}

interface Result {
  readonly calls: readonly Call[]
  readonly refused?: { readonly error: string; readonly details: unknown }
}

type Verdict = 'right' | 'wrong' | 'refused'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { verbose: { type: 'boolean', short: 'v' }, write: { type: 'boolean' } },
})
if (positionals.length === 0) {
  console.error('usage: npm run rates -- [-v] FILE.jsonl…, or npm run rates -- [--write] DIR')
  process.exit(2)
}

const isArguments = (row: Row): boolean => row.raw !== undefined && row.tools === undefined

/** Arguments alone become a call of a tool that accepts any object, once as a read and once as an effect. */
function asked(row: Row, effect: string): object {
  const { id, raw } = row
  if (!isArguments(row)) return row
  return { id, call: { name: 'tool', arguments: raw }, tools: [{ name: 'tool', effect, parameters: { type: 'object' } }] }
}

function verdict(row: Row, { calls, refused }: Result): Verdict {
  const same = (expected: readonly Call[]): boolean =>
    isDeepStrictEqual(
      calls,
      expected.map((call) => ({ name: call.name, arguments: call.arguments })),
    )
  if (isArguments(row)) {
    if (same([{ name: 'tool', arguments: row.expected }])) return 'right'
    return calls.length > 0 ? 'wrong' : row.cut ? 'right' : 'refused'
  }
  if (row.expected_calls) return same(row.expected_calls) ? 'right' : calls.length > 0 ? 'wrong' : 'refused'
  const { expected } = row
  const says = JSON.stringify(refused ?? '')
  if (expected?.action === 'error' && refused && expected.must_mention?.every((word) => says.includes(word))) return 'right'
  // A wrong parameter name may be reported, or repaired if the repaired call is valid.
  if (expected?.action === 'error' && calls.length > 0 && /^alias-/.test((row as { category?: string }).category ?? '')) return 'right'
  const wanted = expected?.action === 'calls' ? expected.calls : expected?.action === 'call' ? [expected as unknown as Call] : undefined
  return wanted && same(wanted) ? 'right' : calls.length > 0 ? 'wrong' : 'refused'
}

async function parse(rows: readonly object[]): Promise<Result[]> {
  const bin = fileURLToPath(new URL('../packages/cli/bin/mulligan.js', import.meta.url))
  const child = spawn(process.execPath, [bin, 'parse', '--jsonl', '-'], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  const results: Result[] = []
  const ended = once(child, 'exit')
  for await (const line of createInterface({ input: child.stdout })) results.push(JSON.parse(line))
  await ended
  return results
}

const table: Record<string, Record<Verdict | 'of' | 'rate', number | string>> = {}
function count(group: string, what: Verdict): void {
  const row = table[group] ?? { of: 0, right: 0, wrong: 0, refused: 0, rate: '' }
  table[group] = row
  row['of'] = Number(row['of']) + 1
  row[what] = Number(row[what]) + 1
  row['rate'] = `${((100 * Number(row['right'])) / Number(row['of'])).toFixed(1)} %`
}

const folders = positionals.filter((path) => statSync(path).isDirectory())
for (const folder of folders) await ofRecorded(folder)

for (const file of positionals.filter((path) => !folders.includes(path))) {
  const rows: Row[] = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line))
  const name = basename(file, '.jsonl')
  for (const effect of rows.some(isArguments) ? ['read', 'write'] : ['read']) {
    const results = await parse(rows.map((row) => asked(row, effect)))
    for (const [at, row] of rows.entries()) {
      const what = verdict(row, results[at] ?? { calls: [] })
      const group = isArguments(row) ? `${name}, as a ${effect}` : row.kind ? `${name} ${row.kind}` : name
      count(group, what)
      if (/^(?:glm|poolside)/.test(row.family ?? '')) count(`${name} ${row.kind ?? ''}, GLM`, what)
      if (values.verbose && what !== 'right') console.log(`${row.id} (${group}): ${what} ${JSON.stringify(results[at])?.slice(0, 400)}`)
    }
  }
}
if (Object.keys(table).length > 0) console.table(table)

interface Rates {
  /** Replies to questions that require a call. */
  of: number
  official: number
  ours: number
  recovered: number
  lost: number
  /** Replies for which no call is correct, and in which our parser finds one that the official parser does not. */
  none: number
  falseCalls: number
}

async function ofRecorded(folder: string): Promise<void> {
  const models = new Map<string, Rates>()
  const total: Rates = { of: 0, official: 0, ours: 0, recovered: 0, lost: 0, none: 0, falseCalls: 0 }
  for (const reply of await recordedIn(folder)) {
    const { model, cat, ok, isRight } = reply
    const right = isRight(callsIn(reply))
    const one = models.get(model) ?? { of: 0, official: 0, ours: 0, recovered: 0, lost: 0, none: 0, falseCalls: 0 }
    models.set(model, one)
    for (const rates of [one, total])
      if (cat === 'relevance') {
        rates.none++
        rates.falseCalls += Number(ok && !right)
      } else {
        rates.of++
        rates.official += Number(ok)
        rates.ours += Number(right)
        rates.recovered += Number(!ok && right)
        rates.lost += Number(ok && !right)
      }
  }
  const percent = (part: number, whole: number): string => (whole === 0 ? '' : ((100 * part) / whole).toFixed(1))
  const line = (name: string, { of, official, ours, recovered, lost, none, falseCalls }: Rates): string =>
    `| ${name} | ${of} | ${percent(official, of)} | ${percent(ours, of)} | ${recovered} | ${lost} | ${falseCalls} of ${none} |`
  const lines = [
    '| model | replies | official reader, right % | ours, right % | recovered | lost | new false calls |',
    '|---|--:|--:|--:|--:|--:|--:|',
    line('**all**', total),
    ...[...models].sort(([a], [b]) => a.localeCompare(b)).map(([name, rates]) => line(name, rates)),
  ]
  console.log(lines.join('\n'))
  if (!values.write) return
  const page = fileURLToPath(new URL('../docs/repair.md', import.meta.url))
  const marked = /(<!-- rates -->\n)[\s\S]*?(\n<!-- \/rates -->)/
  writeFileSync(
    page,
    readFileSync(page, 'utf8').replace(marked, (_, from: string, to: string) => from + lines.join('\n') + to),
  )
}
