/** Connects a workspace to the user: reports, questions, and exceptions outside of calls. */
import type { Ask } from '@mulligan/host/light'
import { fileLog, type Notice, type Ports } from '@mulligan/host/parts'
import { approvalInWords } from './approval/approval.ts'
import type { QuestionLook } from './approval/question-text.ts'
import { fromHome, openDataDir } from './paths.ts'
import { tellLeftOut } from './trust.ts'
import { answerInWords } from './ui/ask.ts'
import type { Output } from './ui/output.ts'

/** Returns the ports for questions during a turn. */
export const askedInWords = (ask: Ask, look: QuestionLook): Pick<Ports, 'approve' | 'answer'> => ({
  approve: approvalInWords(ask, look),
  answer: answerInWords(ask),
})

export function tellNotice(notice: Notice, tell: (line: string) => void): void {
  if (notice.kind === 'withheld') tellLeftOut(tell)(notice.wanted)
  else tell(`${notice.kind === 'approval' ? '  ' : ''}${notice.text}\n`)
}

/**
 * Keeps exceptions outside of calls, such as from a promise that an own tool started and never awaited, from ending the run. Logs them in
 * full, and tells the user once.
 *
 * @returns a function that stops it. @throws UsageError
 */
export function catchUnhandled({ err }: Pick<Output, 'err'>): () => void {
  const { log: path } = openDataDir()
  const log = fileLog(path)
  let told = false
  const onUnhandled = (error: unknown): void => {
    log({ error })
    if (!told) err(`Something failed outside every call; see ${fromHome(path)}\n`)
    told = true
  }
  process.on('uncaughtException', onUnhandled).on('unhandledRejection', onUnhandled)
  return () => {
    process.off('uncaughtException', onUnhandled).off('unhandledRejection', onUnhandled)
  }
}
