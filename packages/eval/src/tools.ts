/** The tools of one run, the same in every arm: those for files, and those for commands where there is a sandbox. */
import { type Tool, ToolFailure, wrapTools } from '@mulligan/core'
import { folderSandbox } from '@mulligan/host/parts'
import { type BackendName, createSandbox, type Sandbox } from '@mulligan/sandbox'
import { createCommandPolicy, createWorkspace, fileTools, shellTools } from '@mulligan/tools'
import type { TaskFolder } from './place.ts'

export interface RunTools {
  readonly tools: readonly Tool[]
  /** Names of the tools that have run so far. */
  readonly ran: readonly string[]
  /** Runs a command in the sandbox of the run. @returns its exit code, undefined if it has none */
  readonly run: (command: string) => Promise<number | undefined>
  /** Ends what still runs. */
  readonly close: () => Promise<void>
}

/** Seconds that a command of a task needs at the very most. */
const TIMEOUT = 60

/** @param backend of the sandbox; without one there are no tools for commands */
export function openTools({ dir, outputs }: TaskFolder, backend: 'auto' | BackendName | undefined): RunTools {
  const workspace = createWorkspace(dir, { outputs: { dir: outputs } })
  const ran: string[] = []
  const observed = (tools: readonly Tool[]): readonly Tool[] =>
    wrapTools(tools, (run, input, ctx, { name }) => {
      ran.push(name)
      return run(input, ctx)
    })
  const files = fileTools(workspace)
  if (backend === undefined) return { tools: observed(files), ran, run: async () => undefined, close: async () => undefined }
  const sandbox = folderSandbox({ workspace: dir, backend }, () => undefined)
  const shell = shellTools({ workspace, sandbox: sandbox.open, timeout: TIMEOUT, network: backend === 'none' ? 'bridge' : 'none' })
  return {
    tools: observed([...files, ...withoutDestructive(shell.tools, dir)]),
    ran,
    run: async (command) => exitCode(await sandbox.open(), command),
    close: async () => {
      await shell.dispose()
      await sandbox.close()
    },
  }
}

/** Nobody is asked in an eval, so what would never be allowed is refused: in every arm, and in the sandbox too. */
function withoutDestructive(tools: readonly Tool[], dir: string): readonly Tool[] {
  const commandPolicy = createCommandPolicy({ workspace: dir })
  return wrapTools(tools, (run, input, ctx) => {
    const { command, cwd = '.' } = input as { readonly command?: unknown; readonly cwd?: string }
    const read = typeof command === 'string' ? commandPolicy(command, cwd) : undefined
    if (read?.destructive !== undefined) throw new ToolFailure(read.destructive, { errorType: 'permission', status: 'denied' })
    return run(input, ctx)
  })
}

async function exitCode(sandbox: Sandbox, command: string): Promise<number | undefined> {
  const running = await sandbox.start({ argv: ['sh', '-c', command], timeout: TIMEOUT })
  return (await running.ended).exitCode ?? undefined
}

export interface FoundSandbox {
  readonly backend?: BackendName
  /** Why there is none. */
  readonly reason?: string
}

/** The sandbox that commands will run in. Never none, unless it is asked for by name. */
export async function findSandbox(dir: string, asked: 'auto' | BackendName): Promise<FoundSandbox> {
  try {
    const sandbox = await createSandbox({ workspace: dir, backend: asked })
    await sandbox.close()
    return { backend: sandbox.backend }
  } catch (error) {
    return { reason: error instanceof Error ? error.message : String(error) }
  }
}
