/** Opens sandboxes in temporary workspaces for tests. Anything they leave behind is removed after each test. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach } from 'vitest'
import { type Command, CommandError, type Completed } from './command.ts'
import { createSandbox, type Sandbox, type SandboxOptions } from './sandbox.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean()
})

export function temporary(prefix = 'workspace-'): string {
  const folder = mkdtempSync(join(tmpdir(), prefix))
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export async function open(options: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  const sandbox = await createSandbox({ workspace: temporary(), backend: 'none', ...options })
  cleanups.push(sandbox.close)
  return sandbox
}

/** Runs a command and returns its result for any outcome. */
export async function completed(sandbox: Sandbox, command: Command): Promise<Completed> {
  return sandbox.run(command).catch((error: unknown) => {
    if (error instanceof CommandError) return error.completed
    throw error
  })
}

/** Waits for a condition outside this process. @throws if it is not met in time */
export async function until(holds: () => boolean | Promise<boolean>, tries = 2000): Promise<void> {
  for (let left = tries; left > 0; left--) {
    if (await holds()) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`did not come true: ${holds}`)
}
