/** Approval requests and scripted users for the tests of approvals. */
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

/** A request to run a shell command. @param asks its simple commands that are not allowed already */
export const shellRequest = (command: string, asks: readonly string[]): ApprovalRequest =>
  request({
    tool: 'bash',
    target: asks.join(', '),
    input: { command },
    asks: asks.map((target) => ({ target, reason: REASON })),
  })

/** The same request after the command ran on its layer and changed a file. */
export const keepRequest = (command: string, asks: readonly string[], more: Partial<ApprovalRequest> = {}): ApprovalRequest => ({
  ...shellRequest(command, asks),
  changes: {
    id: 'l',
    hash: 'h',
    targets: ['a.txt'],
    summary: '1 file changed',
    diff: 'diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n',
  },
  ...more,
})

/** For the workspace `/work/app`. */
export const shell = shellApproval('/work/app')

/** A user who gives these answers; records the questions asked. */
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
