/** Copies a store into an empty file, in a thread of its own: see backup.ts. */
import { closeSync, fsyncSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { workerData } from 'node:worker_threads'

const { from, to } = workerData as { readonly from: string; readonly to: string }
const database = new DatabaseSync(from, { readOnly: true })
// Reads every row, so a damaged store does not replace a good backup, and leaves out what was deleted.
database.prepare('VACUUM INTO ?').run(to)
database.close()
const file = openSync(to, 'r+')
fsyncSync(file)
closeSync(file)
