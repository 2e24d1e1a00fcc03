/** Requests and people for the tests of approvals. */
import type { ApprovalRequest } from '@mulligan/core'
import { shellApproval } from './shell.ts'

const REASON = 'it changes files'

export function request(more: Partial<ApprovalRequest> = {}): ApprovalRequest {
  const target = more.target ?? 'a.txt'
  return {
    callId: 'c',
    tool: 'write_file',
    effect: 'write',
    target,
    input: { path: 'a.txt', content: 'one\ntwo' },
    asks: [{ target, reason: REASON }],
    reason: REASON,
    forced: false,
    ...more,
  }
}

/** @param asks its simple commands that are not allowed already */
export const shellRequest = (command: string, asks: readonly string[]): ApprovalRequest =>
  request({
    tool: 'bash',
    target: asks.join(', '),
    input: { command },
    asks: asks.map((target) => ({ target, reason: REASON })),
  })

/** The same after it ran on its layer, and changed a file. */
export const keepRequest = (command: string, asks: readonly string[], more: Partial<ApprovalRequest> = {}): ApprovalRequest => ({
  ...shellRequest(command, asks),
  changes: {
    id: 'l',
    hash: 'h',
    targets: ['a.txt'],
    summary: '1 file changed',
    diff: '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n',
  },
  ...more,
})

/** Of a folder `/work/app`. */
export const shell = shellApproval('/work/app')

/** A person who gives these answers, and what they were asked. */
export function person(...answers: (string | undefined)[]) {
  const asked: string[] = []
  return {
    asked,
    ask: async (question: string) => {
      asked.push(question)
      return answers.shift()
    },
  }
}
