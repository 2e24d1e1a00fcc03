/** Compares the stderr output of `npm ci` (a file) with the committed list. Prints lines that are not on the list and exits with 1. */
import { readFileSync } from 'node:fs'
import { unexpected } from './stderr-list.ts'

const [file = ''] = process.argv.slice(2)
const lines = unexpected(readFileSync(file, 'utf8'), readFileSync(new URL('./npm-ci-stderr.txt', import.meta.url), 'utf8'))
for (const line of lines) console.error(`npm ci printed a line that is not in scripts/npm-ci-stderr.txt: ${line}`)
process.exit(lines.length > 0 ? 1 : 0)
