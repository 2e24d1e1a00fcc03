import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'
import { folderOf } from './folders.ts'

/** Starts a process that holds the lock on a workspace. Returns a function that kills it. */
export async function lockHolder(dir: string, root: string): Promise<() => Promise<void>> {
  const lock = JSON.stringify(new URL('lock.ts', import.meta.url).href)
  // The timer references the promise: otherwise the lock would be garbage-collected and so released.
  const held = `() => new Promise((resolve) => { console.log('held'); setInterval(resolve, 2 ** 30) })`
  const script = `import(${lock}).then(({ withLock }) => withLock(${JSON.stringify(folderOf(dir, root))}, 0, ${held}))`
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  return async () => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
}
