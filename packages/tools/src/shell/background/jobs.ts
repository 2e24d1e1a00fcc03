/** The session's background commands and their output. The latest lines are kept, in order of arrival. */
import { ModelRetry, ToolFailure } from '@mulligan/core'
import { nearest } from '@mulligan/core/executor'
import type { Command, Completed, Sandbox } from '@mulligan/sandbox'
import { endingText, plainText, remarks } from '../common/output.ts'

export type Jobs = ReturnType<typeof createJobs>

export interface Job {
  /** `bg1`, `bg2` … */
  readonly id: string
  readonly command: string
  readonly log: ReturnType<typeof createLog>
  /** Undefined while it runs. `lost` if the sandbox broke and the outcome is unknown. */
  readonly end: () => Completed | 'lost' | undefined
  /** Index of the first unread line. */
  seen: number
  /** Resolves when the command ends, when `isEnough` returns true (checked after each output), or when the signal is aborted. */
  readonly until: (isEnough: () => boolean, signal: AbortSignal) => Promise<void>
  readonly kill: () => Promise<void>
}

const MAX_RUNNING = 10
/** Ended commands whose output can still be read. */
const MAX_ENDED = 30

export function createJobs() {
  const jobs = new Map<string, Job>()
  let made = 0
  const isRunning = (job: Job): boolean => job.end() === undefined

  /**
   * Starts a background command.
   * @throws ToolFailure when too many are running; SandboxError; CommandRefused
   */
  async function start(sandbox: Sandbox, command: Command & { readonly script: string }): Promise<Job> {
    const [running, ended] = [[...jobs.values()].filter(isRunning), [...jobs.values()].filter((job) => !isRunning(job))]
    const ids = running.map(({ id }) => id).join(', ')
    if (running.length >= MAX_RUNNING)
      throw new ToolFailure(`${MAX_RUNNING} background commands run already: ${ids}. End one with bash_kill.`, {
        errorType: 'limit',
        status: 'failed',
      })
    for (const { id } of ended.slice(0, Math.max(0, ended.length - MAX_ENDED))) jobs.delete(id)
    const log = createLog()
    let news = Promise.withResolvers<void>()
    let end: Completed | 'lost' | undefined
    const tell = (): void => {
      news.resolve()
      news = Promise.withResolvers()
    }
    const process = await sandbox.start({
      ...command,
      onOutput: (text, stream) => {
        log.push(text, stream)
        tell()
      },
    })
    const over = (how: Completed | 'lost'): void => {
      log.end()
      end = how
      tell()
    }
    const done = process.ended.then(over, () => over('lost'))
    const job: Job = {
      id: `bg${++made}`,
      command: command.script,
      log,
      end: () => end,
      seen: 0,
      until: async (isEnough, signal) => {
        const cut = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
        while (end === undefined && !isEnough() && !signal.aborted) await Promise.race([news.promise, cut])
      },
      kill: async () => {
        await process.kill()
        await done
      },
    }
    jobs.set(job.id, job)
    return job
  }

  /**
   * Finds a background command by id.
   * @throws ModelRetry with the existing ids
   */
  function get(id: string): Job {
    const found = jobs.get(id.trim())
    if (found) return found
    // Running ones first, latest first.
    const all = [...jobs.values()].reverse().sort((a, b) => Number(isRunning(b)) - Number(isRunning(a)))
    const ids = all.map((one) => one.id)
    const [near = ids[0]] = nearest(id, ids)
    const says = all.map((one) => `${one.id} (${oneLine(one.command)}) ${endText(one.end())}`).join(' ')
    const wrong = { errorType: 'not_found', parameter: 'id', value: id } as const
    if (near === undefined)
      throw new ModelRetry(`There is no background command "${id}": none has been started in this session.`, {
        ...wrong,
        constraint: 'the id of a command that bash has started with background=true',
      })
    throw new ModelRetry(`There is no background command "${id}". There are: ${says}`, {
      ...wrong,
      constraint: `one of ${ids.join(', ')}`,
      suggestion: near,
      candidates: ids.filter((one) => one !== near),
    })
  }

  const killAll = () => Promise.allSettled([...jobs.values()].filter(isRunning).map((job) => job.kill()))
  return { start, get, killAll }
}

/** Why the sandbox ended a command. */
const REASONS = {
  timeout: 'was ended: it took too long.',
  aborted: 'was ended.',
  memory: 'was ended: it used more memory than the sandbox allows (sandbox.memory).',
  disk: 'was ended: it wrote more to the disk than the sandbox allows (sandbox.disk).',
  output: 'was ended: it printed more than the sandbox allows (sandbox.output).',
} as const

export function endText(end: ReturnType<Job['end']>): string {
  if (end === undefined) return 'is running.'
  if (end === 'lost') return 'is lost: the sandbox it ran in broke.'
  const ending = end.reason === 'exit' || end.reason === 'signal' ? `${endingText(end)}.` : REASONS[end.reason]
  // Nothing counts as dropped: the output can be read in pages, and its end is kept.
  return [ending, ...remarks({ ...end, droppedBytes: 0 })].join(' ')
}

/** Characters of a command shown to identify it. */
const SHOWN = 60

export const oneLine = (command: string): string => {
  const line = command.trim().replace(/\s+/g, ' ')
  return line.length > SHOWN ? `${line.slice(0, SHOWN)}…` : line
}

const MAX_CHARS = 500_000
const MAX_LINE = 50_000

export function createLog(maxChars = MAX_CHARS) {
  let kept: string[] = []
  let chars = 0
  let lost = 0
  const open = { stdout: '', stderr: '' }

  function add(line: string): void {
    const text = plainText(line)
    kept.push(text)
    chars += text.length + 1
    if (chars <= maxChars) return
    // Drop many lines at once, because shifting an array line by line takes quadratic time.
    let drop = 0
    while (chars > maxChars * 0.8 && drop < kept.length - 1) chars -= (kept[drop++] as string).length + 1
    kept = kept.slice(drop)
    lost += drop
  }

  return {
    push: (text: string, stream: 'stdout' | 'stderr'): void => {
      const parts = (open[stream] + text).split('\n')
      open[stream] = parts.pop() as string
      for (const part of parts) add(part.slice(-MAX_LINE))
      if (open[stream].length <= MAX_LINE) return
      add(open[stream])
      open[stream] = ''
    },
    /** Adds unterminated lines as lines. */
    end: (): void => {
      for (const rest of [open.stdout, open.stderr]) if (rest !== '') add(rest)
      open.stdout = open.stderr = ''
    },
    /**
     * Reads lines.
     * @param from line number, from 0; negative counts from the end
     * @returns the lines, with the number of lines after them (`more`) and of requested lines that are no longer kept (`lost`)
     */
    read: (from: number, limit: number) => {
      const wanted = from < 0 ? Math.max(0, lost + kept.length + from) : from
      const first = Math.max(0, wanted - lost)
      const lines: readonly string[] = kept.slice(first, first + limit)
      return { from: lost + first, lines, more: Math.max(0, kept.length - first - lines.length), lost: Math.max(0, lost - wanted) }
    },
    /** Number of lines so far. */
    total: () => lost + kept.length,
    /** An unterminated line, such as a prompt or a progress bar. */
    open: () => plainText(open.stderr === '' ? open.stdout : open.stderr),
  }
}
