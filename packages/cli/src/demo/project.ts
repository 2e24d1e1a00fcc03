/** The small project that the demo repairs: a shop whose discount makes things dearer. */
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { startProgram } from '@mulligan/sandbox'

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
