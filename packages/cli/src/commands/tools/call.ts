/** `mulligan tools call` makes a single call through the same executor as a model's calls. */

import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { type ApprovalRequest, type CallRecord, render, type Tool } from '@mulligan/core'
import { createExecutor, type Executor, type HeldCall, indexNames, type Prepared, resolveName } from '@mulligan/core/executor'
import { oneLine, safeJson, sanitize } from '@mulligan/host/light'
import { type Approve, fileLog, leftOutTexts, openApproval, openTools, recoverChanges, sandboxLine } from '@mulligan/host/parts'
import { createSpill } from '@mulligan/tools'
import { approvalInWords, lookOf } from '../../approval/approval.ts'
import { endIgnored } from '../../ignored.ts'
import { openDataDir, workingFolder } from '../../paths.ts'
import { catchUnhandled } from '../../ports.ts'
import { EXIT, ownCodeIn, watchInterrupts } from '../../process.ts'
import { readStdin } from '../../prompt.ts'
import { refuseUntrusted, settledTools } from '../../trust.ts'
import { askInTerminal, isAttendedFor } from '../../ui/ask.ts'
import { repairText } from '../../ui/events-to-lines.ts'
import type { Output } from '../../ui/output.ts'
import type { FolderFlags } from '../../ui/text.ts'

export interface CallFlags extends FolderFlags {
  readonly yes?: boolean
}

/** @returns 0 if the result is ok, 1 if not, 130 if stopped. @throws UsageError */
export async function callTool(name: string, json: string, flags: CallFlags, output: Output): Promise<number> {
  const cwd = workingFolder(flags.cwd)
  const data = openDataDir()
  const dir = join(data.output, 'calls')
  const log = fileLog(data.log)
  const unwatch = catchUnhandled(output)
  await recoverChanges(cwd, data, (line) => output.err(`${line}\n`))
  const isAttended = isAttendedFor(flags)
  const { settings } = await settledTools(cwd, flags, output)
  const byHand = flags.yes === true || isAttended
  await using openedTools = await openTools(cwd, {
    env: process.env,
    outputs: { dir },
    changes: { dir: data.changes },
    byHand,
    settings,
    onSandbox: (sandbox) => output.err(`${sandboxLine(sandbox)}\n`),
    around: ownCodeIn(cwd),
  })
  await openedTools.ready()
  if (openedTools.untrusted && !isNamed(name, openedTools.tools)) refuseUntrusted(cwd)
  for (const text of leftOutTexts(openedTools)) output.err(`Left out: ${text}\n`)
  const input = json === '-' ? await readStdin() : json
  const interrupt = watchInterrupts(() => undefined)
  const { policy, approve } = openApproval({
    settings,
    cwd,
    tools: openedTools.tools,
    yes: flags.yes === true,
    env: process.env,
    ...(isAttended && { ask: approvalInWords(askInTerminal(interrupt.trigger), lookOf(process.stderr)) }),
    tell: (line) => output.err(`  ${line}\n`),
  })
  const executor = createExecutor({
    tools: openedTools.tools,
    policy,
    signal: interrupt.signal,
    spill: createSpill(dir),
    log,
    errors: 'class',
    // The user typed the call, so every file in it counts as named.
    isNamed: () => true,
  })
  const call = { id: `call/${randomUUID()}`, step: 1, ordinal: 0, name, input }
  let asked: ApprovalRequest | undefined
  const record = await settle(await executor.prepare(call), executor, interrupt.signal, (request, signal) => {
    asked = request
    return approve(request, signal)
  })
  await endIgnored(openedTools.ignored, flags.yes === true && !interrupt.signal.aborted, output)
  interrupt.dispose()
  unwatch()
  print(record, asked, flags, output)
  if (interrupt.signal.aborted) return EXIT.cancelled
  return record.result.ok ? EXIT.ok : EXIT.failed
}

const isNamed = (name: string, tools: readonly Tool[]): boolean => resolveName(name, indexNames(tools)).kind === 'tool'

async function settle(prepared: Prepared | HeldCall, executor: Executor, signal: AbortSignal, approve: Approve): Promise<CallRecord> {
  const next = (one: Prepared | HeldCall): Promise<CallRecord> => settle(one, executor, signal, approve)
  switch (prepared.kind) {
    case 'result':
      return prepared.record
    case 'ready':
      return next(await executor.perform(prepared.call))
    case 'approval':
      return next(await executor.decide(prepared.call, prepared.request, await approve(prepared.request, signal)))
    case 'held':
      return executor.apply(prepared, await approve(prepared.request, signal))
  }
}

function print({ result, repairs }: CallRecord, asked: ApprovalRequest | undefined, { json }: CallFlags, { out, err }: Output): void {
  if (json) {
    out(`${safeJson(result)}\n`)
    return
  }
  if (!result.ok && result.details?.['by'] === 'nobody') {
    for (const { target, reason } of asked?.asks ?? []) err(`Needs approval because of ${oneLine(target, 200)}: ${oneLine(reason, 300)}\n`)
    err(
      asked?.forced
        ? 'Run it in a terminal: only a person can allow it.\n'
        : 'Run it in a terminal, or with --yes; MULLIGAN_MODE and the policy in the configuration decide what needs approval.\n',
    )
  }
  for (const repair of repairs) err(`Repaired: ${repairText(repair)}\n`)
  out(`${sanitize(render(result))}\n`)
}
