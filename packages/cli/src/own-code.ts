/** The person's own tools run in this process: whose code it is that runs, and what is said when it ends the process. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { AroundOwnCode } from '@mulligan/host/parts'
import { EXIT } from './exit.ts'
import { enterFolder } from './paths.ts'

const running = new AsyncLocalStorage<string>()

/**
 * Runs own code, also what it starts and forgets, under a name that a person knows it by. Before the first of it, the process goes to the
 * folder, so that relative paths of own tools lie in it.
 */
export function ownCodeIn(cwd: string): AroundOwnCode {
  let isEntered = false
  return (name, run) => {
    if (!isEntered) enterFolder(cwd)
    isEntered = true
    return running.run(name, run)
  }
}

let watching = false

/**
 * Until {@link endProcess}, an end of the process is none of ours: the exit code says that it failed, and `tell` says why.
 *
 * @param tell has to write at once, because the process does not wait
 */
export function watchExit(tell: (by: string | undefined) => void): void {
  watching = true
  process.on('exit', () => {
    if (!watching) return
    process.exitCode = EXIT.failed
    tell(running.getStore())
  })
}

/** The end that is meant. */
export function endProcess(code: number): never {
  watching = false
  process.exit(code)
}
