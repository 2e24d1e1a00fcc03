import { endingText } from '../bash/ending.ts'
import { remarks } from '../bash/report.ts'
import type { Job, JobEnd } from './jobs.ts'

export const statusOf = (job: Job): 'running' | 'ended' | 'lost' => {
  const end = job.end()
  return end === undefined ? 'running' : end === 'lost' ? 'lost' : 'ended'
}

/** What ended it, when no exit code of its own says so. */
const REASONS = {
  timeout: 'was ended: it took too long.',
  aborted: 'was ended.',
  memory: 'was ended: it took more memory than the sandbox gives (sandbox.memory).',
  disk: 'was ended: it wrote more to the disk than the sandbox allows (sandbox.disk).',
  output: 'was ended: it printed more than the sandbox takes (sandbox.output).',
} as const

export function endText(end: JobEnd | undefined): string {
  if (end === undefined) return 'is running.'
  if (end === 'lost') return 'is lost: the sandbox it ran in broke.'
  const ending = end.reason === 'exit' || end.reason === 'signal' ? `${endingText(end)}.` : REASONS[end.reason]
  // What was printed can be read in pages: of it, the end is kept.
  return [ending, ...remarks({ ...end, droppedBytes: 0 })].join(' ')
}
