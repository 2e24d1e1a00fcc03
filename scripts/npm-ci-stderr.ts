/** Holds what `npm ci` printed on stderr (a file) against the committed list. Exits 1 with the lines that are not on it. */
import { readFileSync } from 'node:fs'
import { unexpected } from './stderr-list.ts'

const [file = ''] = process.argv.slice(2)
const lines = unexpected(readFileSync(file, 'utf8'), readFileSync(new URL('./npm-ci-stderr.txt', import.meta.url), 'utf8'))
for (const line of lines) console.error(`npm ci printed what is not in scripts/npm-ci-stderr.txt: ${line}`)
process.exit(lines.length > 0 ? 1 : 0)
