/** Runs a command to its end, or starts it in the background. */
import { ModelRetry, ok, type ToolContext, type ToolOk } from '@mulligan/core'
import { type Completed, layerHint, type Sandbox } from '@mulligan/sandbox'
import type { Workspace } from '../../workspace/workspace.ts'
import type { Job } from '../background/jobs.ts'
import { isCommandError, notStarted, sandboxFault } from '../common/faults.ts'
import { liveLines } from '../common/live-lines.ts'
import { MAX_TIMEOUT, type ShellCall, type ShellSession } from '../common/session.ts'
import { simpleCommands, startedName } from '../common/simple-commands.ts'
import type { RanOnLayer, ShellLayers } from '../layer/layers.ts'
import { maskHint } from '../layer/mask-hint.ts'
import { lookAround } from './around.ts'
import { leftBehind } from './left-behind.ts'
import { type BashData, outcome } from './outcome.ts'

/** Milliseconds in which a background command that can't be run shows it. */
const SETTLE_MS = 400

export interface StartedData {
  readonly id: string
  readonly status: 'running'
}

export async function run(session: ShellSession, call: ShellCall, ctx: ToolContext): Promise<ToolOk<BashData | StartedData>> {
  const { workspace, jobs } = session
  const { signal } = ctx
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
  const confinement = ctx.confinement ?? 'direct'
  const tell = async (completed: Completed, notes: readonly string[] = []): Promise<ToolOk<BashData>> =>
    outcome(
      { ...ended(session, call, completed, sandbox), confinement, notes: [...notes, ...(await hints(session, call, completed, ctx))] },
      lookAround(workspace, sandbox, cwd.relative, signal),
    )

  if (call.background) {
    const job = await jobs.start(sandbox, { script: call.command, cwd: cwd.absolute }).catch(fault)
    const end = await settled(job)
    return end && end.exitCode !== 0 ? tell(end) : started(job)
  }
  const lines = liveLines(ctx.progress)
  const command = { script: call.command, cwd: cwd.absolute, timeout: call.timeout, signal, onOutput: lines.push }
  if (confinement === 'layer' && session.layers) {
    const ran = await session.layers.run(command).catch(fault).finally(lines.end)
    if (ran.completed.reason === 'aborted') signal.throwIfAborted()
    return proposed(session.layers, ran, ctx, () => tell(ran.completed, ran.notes))
  }
  const masks = confinement === 'read-only' ? await session.layers?.masks(signal) : undefined
  const completed = await sandbox
    .run({ ...command, ...(confinement === 'read-only' && { workspace: 'read-only', masks: masks ?? [] }) })
    .catch((error: unknown) => (isCommandError(error) ? error.completed : fault(error)))
    .finally(lines.end)
  // An effect that was cut off is indeterminate, which is the executor's to say.
  if (completed.reason === 'aborted') signal.throwIfAborted()
  return tell(completed)
}

/** What in the way it ran may be why it did not do what was meant. */
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

/** Of a call that has to be made again nothing is kept. */
async function proposed(
  layers: ShellLayers,
  { changes }: RanOnLayer,
  ctx: ToolContext,
  tell: () => Promise<ToolOk<BashData>>,
): Promise<ToolOk<BashData>> {
  try {
    const result = await tell()
    if (changes) ctx.propose?.(changes)
    return result
  } catch (error) {
    if (changes && error instanceof ModelRetry) await layers.discard(changes)
    else if (changes) ctx.propose?.(changes)
    throw error
  }
}

function ended(
  { commandPolicy }: ShellSession,
  { command, cwd, timeout, background, allow_non_zero_exit: anyExit }: ShellCall,
  completed: Completed,
  sandbox: Sandbox,
) {
  const { commands, whole } = commandPolicy(command, cwd)
  return {
    script: command,
    commands: simpleCommands(command),
    completed,
    timeout,
    anyExit,
    maxTimeout: MAX_TIMEOUT,
    input: { command, ...(cwd !== '.' && { cwd }), ...(background && { background }), ...(anyExit && { allow_non_zero_exit: anyExit }) },
    unsafe: [
      ...commands.flatMap(({ reads, words }) => (reads ? [] : [{ name: startedName(words), words }])),
      ...(whole?.isLate ? [{ name: '', words: [] }] : []),
    ],
    network: sandbox.enforces.network.hold === 'none' ? ('bridge' as const) : sandbox.network,
  }
}

interface Folder {
  readonly absolute: string
  readonly relative: string
}

async function folder(workspace: Workspace, cwd: string): Promise<Folder> {
  const found = await workspace.resolve(cwd, { mustExist: true, kind: 'directory' }).catch((error: unknown) => {
    throw error instanceof ModelRetry
      ? new ModelRetry(error.message, { ...error.details, errorType: error.errorType, parameter: 'cwd' })
      : error
  })
  if (found.kind === 'directory' && !found.output) return found
  throw new ModelRetry(`"${found.relative}" is no folder of the workspace.`, {
    parameter: 'cwd',
    value: cwd,
    constraint: 'a folder of the workspace',
    suggestion: found.output ? '.' : found.relative.replace(/\/?[^/]*$/, '') || '.',
  })
}

/** How it ended, where it did so at once. */
async function settled(job: Job): Promise<Completed | undefined> {
  let timer: NodeJS.Timeout | undefined
  let waiting = true
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      waiting = false
      resolve()
    }, SETTLE_MS)
  })
  while (waiting && job.end() === undefined) await Promise.race([job.news(), over])
  clearTimeout(timer)
  const end = job.end()
  return end === 'lost' ? undefined : end
}

const started = ({ id }: Job): ToolOk<StartedData> =>
  ok(
    { id, status: 'running' },
    { content: `Started in the background as ${id}. Its output: bash_output({"id":"${id}"}). To end it: bash_kill({"id":"${id}"}).` },
  )
