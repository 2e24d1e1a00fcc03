/** The thread that makes a backup. `VACUUM INTO` reads every row, so a damaged store fails here, and deleted content is left out. */
import { closeSync, fsyncSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { workerData } from 'node:worker_threads'

const { from, to } = workerData as { readonly from: string; readonly to: string }
const database = new DatabaseSync(from, { readOnly: true })
database.prepare('VACUUM INTO ?').run(to)
database.close()
const file = openSync(to, 'r+')
fsyncSync(file)
closeSync(file)
