import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'
import { folderOf } from './folders.ts'

/** A process that holds the lock on a workspace, and a way to kill it. */
export async function lockHolder(dir: string, root: string): Promise<() => Promise<void>> {
  const lock = JSON.stringify(new URL('lock.ts', import.meta.url).href)
  // The timer holds on to the promise: a lock that nobody waits for any more would be collected, and so given back.
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
