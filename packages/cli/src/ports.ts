/** This command as a front door: what a workspace reports goes to the user, and what it asks, in words. */
import type { Ask } from '@mulligan/host/light'
import type { Notice, Ports } from '@mulligan/host/parts'
import { approvalInWords } from './approval/ask.ts'
import { tellLeftOut } from './trust.ts'
import { answerInWords } from './ui/ask-user.ts'
import type { Colors } from './ui/colors.ts'

/** Whoever is asked during a turn. */
export const askedInWords = (ask: Ask, colors: Colors): Pick<Ports, 'approve' | 'answer'> => ({
  approve: approvalInWords(ask, colors),
  answer: answerInWords(ask),
})

export function tellNotice(notice: Notice, tell: (line: string) => void): void {
  if (notice.kind === 'withheld') tellLeftOut(tell)(notice.wanted)
  else tell(`${notice.kind === 'approval' ? '  ' : ''}${notice.text}\n`)
}
