import { defineTool, ok, type Tool } from '@mulligan/core'
import { z } from 'zod'
import { describe } from '../../describe.ts'
import { endText, type Jobs, oneLine } from '../background/jobs.ts'
import { sandboxFault } from '../common/sandbox.ts'

const input = z.object({ id: z.string().min(1).describe('from bash') })

/** Ends a command that `bash` started with `background`. */
export function bashKillTool(jobs: Jobs, root: string): Tool {
  const first = [{ tool: 'bash', input: { command: 'sleep 60', background: true } }]
  return defineTool({
    name: 'bash_kill',
    description: describe(import.meta.url),
    input,
    effect: 'write',
    timeout: 30,
    aliases: ['kill_shell', 'kill_bash', 'task_stop', 'stop_bash', 'kill_terminal'],
    parameterAliases: { id: ['bash_id', 'shell_id', 'task_id', 'job_id', 'session_id', 'shellId'] },
    target: ({ id }) => id,
    examples: [
      { outcome: 'ok', input: { id: 'bg1' }, first, why: 'ends its processes' },
      { outcome: 'retry', input: { id: 'bg7' }, first, why: 'those that exist are named' },
    ],
    execute: async (call) => {
      const { id, command, end, kill } = jobs.get(call.id)
      const before = end()
      if (before !== undefined) return ok({ id, killed: false }, { content: `${id} had ended before: it ${endText(before)}` })
      await kill().catch((error: unknown) => {
        throw sandboxFault(error, root)
      })
      return ok({ id, killed: true }, { content: `${id} (${oneLine(command)}) was ended.` })
    },
  })
}
