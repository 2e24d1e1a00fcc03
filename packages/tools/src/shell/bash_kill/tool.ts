import { defineTool, ok, type Tool, type ToolOk } from '@mulligan/core'
import { z } from 'zod'
import { describe } from '../../describe.ts'
import { byId, oneLine } from '../background/by-id.ts'
import { endText } from '../background/end-text.ts'
import type { Jobs } from '../background/jobs.ts'
import { sandboxFault } from '../common/faults.ts'

const TIMEOUT = 30

const input = z.object({ id: z.string().min(1).describe('from bash') })

export interface KillData {
  readonly id: string
  /** False where it had ended before. */
  readonly killed: boolean
}

/** Ends what `bash` has started with `background`. */
export function bashKillTool(jobs: Jobs, root: string): Tool {
  const first = [{ tool: 'bash', input: { command: 'sleep 60', background: true } }]
  return defineTool({
    name: 'bash_kill',
    description: describe(import.meta.url),
    input,
    effect: 'write',
    timeout: TIMEOUT,
    aliases: ['kill_shell', 'kill_bash', 'task_stop', 'stop_bash', 'kill_terminal'],
    parameterAliases: { id: ['bash_id', 'shell_id', 'task_id', 'job_id', 'session_id', 'shellId'] },
    target: ({ id }) => id,
    examples: [
      { outcome: 'ok', input: { id: 'bg1' }, first, why: 'ends its processes' },
      { outcome: 'retry', input: { id: 'bg7' }, first, why: 'those that exist are named' },
    ],
    execute: ({ id }) => kill(jobs, id, root),
  })
}

async function kill(jobs: Jobs, id: string, root: string): Promise<ToolOk<KillData>> {
  const job = byId(jobs, id)
  const end = job.end()
  if (end !== undefined) return ok({ id: job.id, killed: false }, { content: `${job.id} had ended before: it ${endText(end)}` })
  await job.kill().catch((error: unknown) => {
    throw sandboxFault(error, root)
  })
  return ok({ id: job.id, killed: true }, { content: `${job.id} (${oneLine(job.command)}) was ended.` })
}
