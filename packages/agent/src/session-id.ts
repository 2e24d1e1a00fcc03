/** Session ids. */
import { randomBytes } from 'node:crypto'
import { randomLetters } from './random-letters.ts'

/** Returns a new session id, which sorts by time and is easy to type: `20261121-2330-k3f9x2`. */
export function newSessionId(): string {
  const stamp = new Date().toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 13)
  return `${stamp}-${randomLetters(6)}`
}

/** Returns a new id of a question to a person. It can't be guessed, and is short enough to type the beginning of. */
export const newApprovalId = (): string => randomBytes(9).toString('hex')

const TITLE = 60

/** Returns the beginning of a session's first prompt, with an ellipsis if there is more of it. */
export function sessionTitle(prompt: string): string {
  const line = prompt.replace(/\s+/g, ' ').trim()
  return line.length <= TITLE ? line : `${line.slice(0, TITLE - 1).trimEnd()}…`
}
