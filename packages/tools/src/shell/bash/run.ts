/** Runs a command to its end, or starts it in the background. */
import { ModelRetry, ok, type ToolContext, type ToolOk } from '@mulligan/core'
import { type Completed, layerHint, type Sandbox } from '@mulligan/sandbox'
import type { Workspace } from '../../workspace/workspace.ts'
import type { Job } from '../background/jobs.ts'
import { liveLines } from '../common/output.ts'
import { isCommandError, notStarted, sandboxFault } from '../common/sandbox.ts'
import { type SimpleCommand, simpleCommands, started, startedName } from '../common/simple-commands.ts'
import { maskHint } from '../layer/secrets.ts'
import { lookAround } from './around.ts'
import { outcome } from './outcome.ts'
import type { ShellCall, ShellSession } from './session.ts'

/** Milliseconds to wait for a background command that fails at startup. */
const SETTLE_MS = 400

export async function run(session: ShellSession, call: ShellCall, ctx: ToolContext): Promise<ToolOk> {
  const { workspace, jobs, layers } = session
  const { signal, confinement = 'direct' } = ctx
  signal.throwIfAborted()
  const cwd = await folder(workspace, call.cwd)
  const sandbox = await session.sandbox.get().catch((error: unknown) => {
    throw notStarted(error, workspace.root)
  })
  signal.throwIfAborted()
  const fault = (error: unknown): never => {
    signal.throwIfAborted()
    throw sandboxFault(error, workspace.root)
  }
  const tell = async (completed: Completed, notes: readonly string[] = []): Promise<ToolOk> => {
    const known = { call, completed, confinement, commands: simpleCommands(call.command), ...policyOf(session, call, sandbox) }
    const all = [...notes, ...(await hints(session, call, completed, ctx))]
    return outcome({ ...known, notes: all }, lookAround(workspace, sandbox, cwd.relative, signal))
  }

  if (call.background) {
    const job = await jobs.start(sandbox, { script: call.command, cwd: cwd.absolute }).catch(fault)
    const end = await settled(job)
    if (end && end.exitCode !== 0) return tell(end)
    const { id } = job
    const content = `Started in the background as ${id}. Its output: bash_output({"id":"${id}"}). To end it: bash_kill({"id":"${id}"}).`
    return ok({ id, status: 'running' }, { content })
  }
  const lines = liveLines(ctx.progress)
  const command = { script: call.command, cwd: cwd.absolute, timeout: call.timeout, signal, onOutput: lines.push }
  if (confinement === 'layer' && layers) {
    const { changes, ...ran } = await layers.run(command).catch(fault).finally(lines.end)
    if (ran.completed.reason === 'aborted') signal.throwIfAborted()
    try {
      const result = await tell(ran.completed, ran.notes)
      if (changes) ctx.propose?.(changes)
      return result
    } catch (error) {
      // Discard the changes of a call that has to be repeated.
      if (changes && error instanceof ModelRetry) await layers.discard(changes)
      else if (changes) ctx.propose?.(changes)
      throw error
    }
  }
  const readOnly = confinement === 'read-only' && { workspace: 'read-only' as const, masks: (await layers?.masks(signal)) ?? [] }
  const completed = await sandbox
    .run({ ...command, ...readOnly })
    .catch((error: unknown) => (isCommandError(error) ? error.completed : fault(error)))
    .finally(lines.end)
  // Throw on an abort, so that the executor treats the interrupted effect as indeterminate.
  if (completed.reason === 'aborted') signal.throwIfAborted()
  return tell(completed)
}

function policyOf({ commandPolicy }: ShellSession, { command, cwd }: ShellCall, sandbox: Sandbox) {
  const { commands, whole } = commandPolicy(command, cwd)
  const unsafe = commands.flatMap(({ reads, words }) => (reads ? [] : [{ name: startedName(words), words }]))
  const network: 'none' | 'bridge' = sandbox.enforces.network.hold === 'none' ? 'bridge' : sandbox.network
  return { network, unsafe: [...unsafe, ...(whole?.isLate ? [{ name: '', words: [] }] : [])] }
}

/** Hints at how the sandbox itself may have caused an unexpected result. */
async function hints({ layers }: ShellSession, { command, background }: ShellCall, completed: Completed, ctx: ToolContext) {
  const { confinement = 'direct', signal } = ctx
  const failed = completed.exitCode !== 0
  const masks = confinement === 'direct' || !layers ? [] : await layers.masks(signal)
  const output = `${completed.stdout}\n${completed.stderr}`
  return [
    confinement === 'layer' && failed ? layerHint(completed) : undefined,
    maskHint({ script: command, output, failed, masks, readable: layers?.readable ?? [] }),
    background ? undefined : leftBehind(simpleCommands(command)),
  ].filter((one) => one !== undefined)
}

async function folder(workspace: Workspace, cwd: string) {
  const found = await workspace.resolve(cwd, { mustExist: true, kind: 'directory' }).catch((error: unknown) => {
    if (!(error instanceof ModelRetry)) throw error
    throw new ModelRetry(error.message, { ...error.details, errorType: error.errorType, parameter: 'cwd' })
  })
  if (found.kind === 'directory' && !found.output) return found
  throw new ModelRetry(`"${found.relative}" is not a folder in the workspace.`, {
    parameter: 'cwd',
    value: cwd,
    constraint: 'a folder of the workspace',
    suggestion: found.output ? '.' : found.relative.replace(/\/?[^/]*$/, '') || '.',
  })
}

/** Returns how a background command ended if it ended immediately. */
async function settled(job: Job): Promise<Completed | undefined> {
  const over = AbortSignal.timeout(SETTLE_MS)
  await job.until(() => false, over)
  const end = job.end()
  return end === 'lost' ? undefined : end
}

/** Commands that end a background command or wait for it. */
const SEES_TO = /^(?:wait|fg|kill|pkill|killall|trap)$/
const MAX_NAME = 60

/**
 * Explains that a process started with `&` ends with the command.
 * @returns a sentence for the model, or undefined if nothing was left running
 */
export function leftBehind(commands: readonly SimpleCommand[]): string | undefined {
  const command = commands.findLast(({ background }) => background === true)
  if (!command || commands.some(({ name }) => SEES_TO.test(name))) return undefined
  const words = started(command).words.map(({ value }) => value)
  const text = words.join(' ')
  const named = text === '' ? 'What was' : `"${text.length > MAX_NAME ? `${text.slice(0, MAX_NAME)}…` : text}" was`
  return `${named} put in the background with &; it does not outlive the command, and was stopped if it still ran. To keep it running, start it alone with background: true.`
}
