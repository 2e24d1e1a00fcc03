/** Finds the files whose loading never ends, by loading them in a thread that can be stopped. An endless loop would hang the program. */
import { Worker } from 'node:worker_threads'
import type { UserToolFiles } from './user-tools-files.ts'

/** What the thread reports: that it begins to load a file, and at the end that it is done. */
export type ProbeReport = { readonly begins: string } | { readonly done: true }

const PROGRAM = new URL(import.meta.url.endsWith('.ts') ? './user-tools-worker.ts' : './user-tools-worker.js', import.meta.url)

/**
 * Returns the files that do not finish loading in time. Whatever else is wrong with a file shows when it is loaded for good.
 *
 * @param seconds for each file
 */
export async function endlessFiles(found: UserToolFiles, seconds: number): Promise<ReadonlySet<string>> {
  const endless = new Set<string>()
  for (let files = found.files; files.length > 0; ) {
    const stopped = await probe({ ...found, files }, seconds)
    if (stopped === undefined) break
    if (stopped.isEndless) endless.add(stopped.file)
    files = files.slice(files.indexOf(stopped.file) + 1)
  }
  return endless
}

/** Loads the files in a thread. Returns the file at which that ended; undefined if all were loaded. */
function probe(found: UserToolFiles, seconds: number): Promise<{ readonly file: string; readonly isEndless: boolean } | undefined> {
  const worker = new Worker(PROGRAM, { workerData: found, stdout: true, stderr: true })
  const { promise, resolve } = Promise.withResolvers<{ readonly file: string; readonly isEndless: boolean } | undefined>()
  let file: string | undefined
  let timer: NodeJS.Timeout | undefined
  const end = (isEndless: boolean): void => resolve(file === undefined ? undefined : { file, isEndless })
  worker.on('message', (report: ProbeReport) => {
    clearTimeout(timer)
    file = 'begins' in report ? report.begins : undefined
    if (file === undefined) end(false)
    else timer = setTimeout(end, seconds * 1000, true)
  })
  worker.on('error', () => end(false))
  worker.on('exit', () => end(false))
  return promise.finally(() => {
    clearTimeout(timer)
    return worker.terminate()
  })
}
