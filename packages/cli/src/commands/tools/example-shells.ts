/** The shell tools as their examples need them: one sandbox, and within its folder those of the examples. */
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Tool } from '@mulligan/core'
import { createSandbox, type Sandbox, SandboxError, type SandboxOptions } from '@mulligan/sandbox'
import { type ShellTools, shellTools, type Workspace } from '@mulligan/tools'

export interface ExampleShells {
  readonly root: string
  readonly tools: (workspace: Workspace) => readonly Tool[]
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

export async function exampleShells(options: SandboxOptions): Promise<ExampleShells> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'audit-')))
  const sandbox = await openFor({ ...options, workspace: root })
  const opened: ShellTools[] = []
  return {
    root,
    tools: (workspace) => {
      const shell = shellTools({ workspace, sandbox: async () => sandbox })
      opened.push(shell)
      return shell.tools
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(opened.map((shell) => shell.dispose()))
      await sandbox.close()
      await rm(root, { recursive: true, force: true })
    },
  }
}

/** The commands of the examples are ours and harmless: where no sandbox can be opened, they run without one. */
async function openFor(options: SandboxOptions): Promise<Sandbox> {
  try {
    return await createSandbox(options)
  } catch (error) {
    if (error instanceof SandboxError) return createSandbox({ ...options, backend: 'none' })
    throw error
  }
}
