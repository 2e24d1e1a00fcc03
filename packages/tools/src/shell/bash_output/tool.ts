import { defineTool, empty, ModelRetry, ok, type Tool, type ToolOk } from '@mulligan/core'
import { z } from 'zod'
import { describe } from '../../describe.ts'
import { plural } from '../../files/common/page.ts'
import { fenced } from '../../files/common/unified-diff.ts'
import { byId } from '../background/by-id.ts'
import { endText, statusOf } from '../background/end-text.ts'
import type { Job, Jobs } from '../background/jobs.ts'

const DEFAULT_LINES = 500
const MAX_LINES = 5000
/** Seconds that a call may wait. */
const MAX_WAIT = 300
const MARGIN = 30
const PERSON_LINES = 40

const input = z.object({
  id: z.string().min(1).describe('from bash'),
  offset: z.int().min(-1e9).max(1e9).optional().describe('lines to skip; -N: the last N; default: the new ones'),
  limit: z.int().min(1).max(MAX_LINES).default(DEFAULT_LINES).describe('lines'),
  wait: z.number().min(0).max(MAX_WAIT).default(0).describe('seconds to wait for more'),
})
type Input = z.infer<typeof input>

export interface OutputData {
  readonly id: string
  /** `lost`: the sandbox it ran in broke. */
  readonly status: 'running' | 'ended' | 'lost'
  /** Null while it runs, and where a signal ended it. */
  readonly exitCode: number | null
  readonly signal: string | null
  readonly lines: readonly string[]
  /** The number of the first of them. */
  readonly offset: number
  readonly total: number
}

/** The output of a command that was started with `background`, in pages. */
export function bashOutputTool(jobs: Jobs): Tool {
  const first = [{ tool: 'bash', input: { command: 'echo ready', background: true } }]
  return defineTool({
    name: 'bash_output',
    description: describe(import.meta.url),
    input,
    effect: 'read',
    timeout: MAX_WAIT + MARGIN,
    polls: true,
    aliases: ['read_bash', 'task_output', 'shell_output', 'get_terminal_output', 'command_status'].map((name) => ({
      name,
      adapt: fromOthers,
    })),
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

/** `block` waits for the end, up to `timeout` in milliseconds. */
function fromOthers({ block, timeout, filter: _, ...rest }: Record<string, unknown>): Record<string, unknown> {
  const most = typeof timeout === 'number' ? timeout / 1000 : MAX_WAIT
  return { ...rest, ...(block === true && { wait: Math.min(MAX_WAIT, most) }) }
}

async function look(jobs: Jobs, { id, offset, limit, wait }: Input, signal: AbortSignal): Promise<ToolOk<OutputData>> {
  const job = byId(jobs, id)
  if (offset === undefined) await somethingNew(job, wait, signal)
  const { from, lines, more, lost } = job.log.read(offset ?? job.seen, limit)
  if (offset !== undefined && offset > job.log.total() && offset > 0)
    throw new ModelRetry(`${job.id} has printed ${plural(job.log.total(), 'line')} so far.`, {
      parameter: 'offset',
      value: offset,
      constraint: `at most ${job.log.total()}`,
      suggestion: job.log.total(),
    })
  if (offset === undefined) job.seen = from + lines.length
  const end = job.end()
  const open = more === 0 && end === undefined ? job.log.open() : ''
  const shown = open === '' ? lines : [...lines, open]
  const data: OutputData = {
    id: job.id,
    status: statusOf(job),
    exitCode: end === undefined || end === 'lost' ? null : end.exitCode,
    signal: end === undefined || end === 'lost' ? null : end.signal,
    lines: shown,
    offset: from,
    total: job.log.total(),
  }
  const head = `${job.id} ${endText(end)}`
  if (shown.length === 0) return empty(data, `${head}${offset === undefined ? ' Nothing new was printed.' : ' Nothing was printed.'}`)
  const gone = lost > 0 ? `[${plural(lost, 'earlier line')} no longer kept]\n` : ''
  return ok(data, {
    content: `${head}\n${gone}${shown.join('\n')}${more > 0 ? `\nmore: offset=${from + lines.length}` : ''}`,
    display: fenced(shown.slice(-PERSON_LINES).join('\n')),
    count: shown.length,
    hasMore: more > 0,
  })
}

/** Until a line has come that was not read, or it has ended. */
async function somethingNew(job: Job, seconds: number, signal: AbortSignal): Promise<void> {
  const isNew = (): boolean => job.end() !== undefined || job.log.total() > job.seen
  if (seconds === 0 || isNew()) return
  const over = new AbortController()
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(seconds * 1000), over.signal])
  const cut = new Promise<void>((resolve) => deadline.addEventListener('abort', () => resolve(), { once: true }))
  while (!isNew() && !deadline.aborted) await Promise.race([job.news(), cut])
  over.abort()
  signal.throwIfAborted()
}
