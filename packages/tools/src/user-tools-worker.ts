/** The thread that loads the user's own tools to see whether the loading ends. */
import { parentPort, workerData } from 'node:worker_threads'
import { loadFile } from './user-tools.ts'
import type { UserToolFiles } from './user-tools-files.ts'
import type { ProbeReport } from './user-tools-probe.ts'

const given = workerData as UserToolFiles
const found = { ...given, contents: new Map([...given.contents].map(([path, bytes]) => [path, Buffer.from(bytes)])) }
const report = (one: ProbeReport): void => parentPort?.postMessage(one)

// The thread waits for a file whose loading waits for nothing.
setInterval(() => undefined, 1 << 30)
for (const file of found.files) {
  report({ begins: file })
  await loadFile(file, found).catch(() => undefined)
}
report({ done: true })
