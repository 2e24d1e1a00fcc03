import { defineTool, empty, ModelRetry, ok, type Tool, type ToolOk } from '@mulligan/core'
import { z } from 'zod'
import { describe } from '../../describe.ts'
import { plural } from '../../files/common/page.ts'
import { fenced } from '../../files/common/unified-diff.ts'
import { endText, type Jobs } from '../background/jobs.ts'

const DEFAULT_LINES = 500
const MAX_LINES = 5000
/** Maximum seconds a call may wait. */
const MAX_WAIT = 300
const MARGIN = 30
const PERSON_LINES = 40

const input = z.object({
  id: z.string().min(1).describe('from bash'),
  offset: z.int().min(-1e9).max(1e9).optional().describe('lines to skip; -N: the last N; default: the new ones'),
  limit: z.int().min(1).max(MAX_LINES).default(DEFAULT_LINES).describe('lines'),
  wait: z.number().min(0).max(MAX_WAIT).default(0).describe('seconds to wait for more'),
})

/** Returns the output of a command started with `background`, in pages. */
export function bashOutputTool(jobs: Jobs): Tool {
  const first = [{ tool: 'bash', input: { command: 'echo ready', background: true } }]
  const names = ['read_bash', 'task_output', 'shell_output', 'get_terminal_output', 'command_status']
  return defineTool({
    name: 'bash_output',
    description: describe(import.meta.url),
    input,
    effect: 'read',
    timeout: MAX_WAIT + MARGIN,
    polls: true,
    aliases: names.map((name) => ({ name, adapt: fromOthers })),
    parameterAliases: {
      id: ['bash_id', 'shell_id', 'task_id', 'job_id', 'session_id', 'shellId', 'CommandId'],
      wait: ['wait_seconds', 'timeout'],
    },
    target: ({ id }) => id,
    examples: [
      { outcome: 'ok', input: { id: 'bg1', wait: 10 }, first },
      { outcome: 'retry', input: { id: 'bg7' }, first, why: 'those that exist are named' },
    ],
    execute: (call, { signal }) => look(jobs, call, signal),
  })
}

/** Adapts other agents' parameters: `block` waits for the end, for up to `timeout` milliseconds. */
function fromOthers({ block, timeout, filter: _, ...rest }: Record<string, unknown>): Record<string, unknown> {
  const most = typeof timeout === 'number' ? timeout / 1000 : MAX_WAIT
  return { ...rest, ...(block === true && { wait: Math.min(MAX_WAIT, most) }) }
}

async function look(jobs: Jobs, { id: asked, offset, limit, wait }: z.infer<typeof input>, signal: AbortSignal): Promise<ToolOk> {
  const job = jobs.get(asked)
  const { id, log } = job
  if (offset === undefined && wait > 0) {
    await job.until(() => log.total() > job.seen, AbortSignal.any([signal, AbortSignal.timeout(wait * 1000)]))
    signal.throwIfAborted()
  }
  const { from, lines, more, lost } = log.read(offset ?? job.seen, limit)
  const total = log.total()
  if (offset !== undefined && offset > total && offset > 0)
    throw new ModelRetry(`${id} has printed ${plural(total, 'line')} so far.`, {
      parameter: 'offset',
      value: offset,
      constraint: `at most ${total}`,
      suggestion: total,
    })
  if (offset === undefined) job.seen = from + lines.length
  const end = job.end()
  const open = more === 0 && end === undefined ? log.open() : ''
  const shown = open === '' ? lines : [...lines, open]
  const status = end === undefined ? 'running' : end === 'lost' ? 'lost' : 'ended'
  const { exitCode, signal: killedBy } = typeof end === 'object' ? end : { exitCode: null, signal: null }
  const data = { id, status, exitCode, signal: killedBy, lines: shown, offset: from, total }
  const head = `${id} ${endText(end)}`
  if (shown.length === 0) return empty(data, `${head}${offset === undefined ? ' Nothing new was printed.' : ' Nothing was printed.'}`)
  const gone = lost > 0 ? `[${plural(lost, 'earlier line')} no longer kept]\n` : ''
  return ok(data, {
    content: `${head}\n${gone}${shown.join('\n')}${more > 0 ? `\nmore: offset=${from + lines.length}` : ''}`,
    display: fenced(shown.slice(-PERSON_LINES).join('\n')),
    count: shown.length,
    hasMore: more > 0,
  })
}
