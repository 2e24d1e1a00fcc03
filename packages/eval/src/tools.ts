/** The tools of one run, the same in every arm: file tools, and shell tools if there is a sandbox. */
import { type Tool, ToolFailure, wrapTools } from '@mulligan/core'
import { oneLine, UsageError } from '@mulligan/host/light'
import { folderSandbox } from '@mulligan/host/parts'
import { type BackendName, createSandbox } from '@mulligan/sandbox'
import { createCommandPolicy, createWorkspace, fileTools, shellTools } from '@mulligan/tools'
import { makePlace, type TaskFolder } from './place.ts'

/** The most seconds that a command of a task may take. */
const TIMEOUT = 60

/** Opens the tools. @param backend sandbox backend; without one there are no shell tools */
export function openTools({ dir, outputs }: TaskFolder, backend: 'auto' | BackendName | undefined) {
  const workspace = createWorkspace(dir, { outputs: { dir: outputs } })
  const commandPolicy = createCommandPolicy({ workspace: dir })
  /** Names of the tools that have run so far. */
  const ran: string[] = []
  const observed = (tools: readonly Tool[]): readonly Tool[] =>
    wrapTools(tools, (run, input, ctx, { name }) => {
      ran.push(name)
      // Nobody can be asked in an eval, so destructive commands are refused, in every arm.
      const { command, cwd = '.' } = input as { readonly command?: unknown; readonly cwd?: string }
      const destructive = typeof command === 'string' ? commandPolicy(command, cwd).destructive : undefined
      if (destructive !== undefined) throw new ToolFailure(destructive, { errorType: 'permission', status: 'denied' })
      return run(input, ctx)
    })
  const files = observed(fileTools(workspace))
  if (backend === undefined) return { tools: files, ran, run: async () => undefined, [Symbol.asyncDispose]: async () => undefined }
  const sandbox = folderSandbox({ workspace: dir, backend }, () => undefined)
  const shell = shellTools({ workspace, sandbox: sandbox.open, timeout: TIMEOUT, network: backend === 'none' ? 'bridge' : 'none' })
  return {
    tools: [...files, ...observed(shell.tools)],
    ran,
    /** Runs a command in the sandbox of the run. @returns its exit code, undefined if it has none */
    run: async (command: string): Promise<number | undefined> => {
      const running = await (await sandbox.open()).start({ argv: ['sh', '-c', command], timeout: TIMEOUT })
      return (await running.ended).exitCode ?? undefined
    },
    [Symbol.asyncDispose]: async () => {
      await shell.dispose()
      await sandbox.close()
    },
  }
}

/**
 * Opens a sandbox in a folder like those of the runs, to see which one works. Running without a sandbox must be requested by name.
 * @throws UsageError if the requested sandbox does not work
 */
export async function findSandbox(asked: 'auto' | BackendName): Promise<{ readonly backend?: BackendName; readonly reason?: string }> {
  await using place = await makePlace({})
  try {
    const sandbox = await createSandbox({ workspace: place.dir, backend: asked })
    await sandbox.close()
    return { backend: sandbox.backend }
  } catch (error) {
    const reason = oneLine(error instanceof Error ? error.message : String(error), 400)
    if (asked !== 'auto') throw new UsageError(`--sandbox ${asked}: ${reason}`, '`mulligan doctor` shows which sandboxes are available.')
    return { reason }
  }
}
