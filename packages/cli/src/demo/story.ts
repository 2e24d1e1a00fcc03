/** The demo's story: a shop whose discount raises prices, and the output of the scripted model, which follows hints like a real one. */
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { startProgram } from '@mulligan/sandbox'
import { call, lastToolResults, type ScriptedTurn, say, type TurnFunction } from '@mulligan/testing'

const WRONG_PATH = 'src/pirce.js'

/** Returns the input of the call that the latest result suggests, or `fallback` if it suggests none. */
const suggested = (request: Parameters<typeof lastToolResults>[0], fallback: Record<string, unknown>): Record<string, unknown> => {
  const text = lastToolResults(request).at(-1)?.text ?? ''
  const found = /Call instead: \w+\((.*)\)$/m.exec(text)?.[1]
  return found === undefined ? fallback : (JSON.parse(found) as Record<string, unknown>)
}

/** Repeated four times; the last call is refused. */
const grep = call('grep', { pattern: 'discounted' })

export const SCRIPT: readonly (ScriptedTurn | TurnFunction)[] = [
  { ...call('read_file', { path: WRONG_PATH }), text: 'I look at the pricing code.' },
  (request) => call('read_file', { path: suggested(request, { path: WRONG_PATH })['path'], limit: '50' }),
  call('find_usages', { symbol: 'discounted' }),
  call('grep', { pattern: 'applyDiscount' }),
  call('edit_file', {
    path: 'src/price.js',
    edits: [{ old_text: '  return Math.round(cents + cents * rate)', new_text: '  return Math.round(cents - cents * rate)' }],
  }),
  (request) => {
    const edits = suggested(request, {})['edits'] as { old_text: string }[] | undefined
    return call('str_replace', {
      path: 'src/price.js',
      old_str: edits?.[0]?.old_text ?? 'cents + cents * rate',
      new_str: '  return Math.round(cents - cents * rate)',
    })
  },
  grep,
  grep,
  grep,
  grep,
  say('The discount was added instead of taken off. I changed the sign in src/price.js; the check should pass now.'),
]

const FILES: Readonly<Record<string, string>> = {
  'package.json': '{ "name": "corner-shop", "type": "module", "scripts": { "test": "node check.js" } }\n',
  'README.md': '# Corner shop\n\nPrices are in cents. A discount is given as a rate from 0 to 1.\n',
  'src/price.js': `/** The price in cents after a discount. */
export function discounted(cents, rate) {
  return Math.round(cents + (cents * rate))
}

export function total(items) {
  return items.reduce((sum, { cents, rate = 0 }) => sum + discounted(cents, rate), 0)
}
`,
  'check.js': `import { discounted, total } from './src/price.js'

const ok = discounted(1000, 0.25) === 750 && total([{ cents: 200 }, { cents: 100, rate: 0.5 }]) === 250
console.log(ok ? 'ok' : 'wrong: a discount of 25 % on 10.00 gives ' + (discounted(1000, 0.25) / 100).toFixed(2))
process.exit(ok ? 0 : 1)
`,
}

export async function writeProject(folder: string): Promise<void> {
  for (const [path, text] of Object.entries(FILES)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
}

/** Runs the project's own check. */
export function runCheck(folder: string): Promise<{ readonly passed: boolean; readonly says: string }> {
  const child = startProgram(process.execPath, ['check.js'], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  let says = ''
  child.stdout.on('data', (chunk) => {
    says += chunk
  })
  return new Promise((resolve) => child.on('close', (code) => resolve({ passed: code === 0, says: says.trim() })))
}
