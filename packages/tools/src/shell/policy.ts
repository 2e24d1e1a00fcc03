/** A policy that knows the shell: what a command would do is judged before anybody is asked about it. */
import type { Policy } from '@mulligan/core'
import { createJudge, type JudgePlace } from './common/judged.ts'

/**
 * Of `bash`, commands that only read are allowed, and destructive ones are denied whatever `policy` says; it decides on each
 * of the others. What the session itself has started may be ended.
 *
 * @example
 * judgedPolicy(rulesPolicy([{ tool: 'bash', target: 'npm test*', decision: 'allow' }]), { workspace: process.cwd() })
 */
export function judgedPolicy(policy: Policy, place: JudgePlace = { workspace: process.cwd() }): Policy {
  const judge = createJudge(place)
  return (request) => {
    if (request.tool === 'bash_kill') return { decision: 'allow', reason: 'it ends what this session has started' }
    const { command, cwd } = request.input
    if (request.tool !== 'bash' || typeof command !== 'string') return policy(request)
    const judged = judge(command, typeof cwd === 'string' ? cwd : '.')
    if (judged.verdict === 'deny') return { decision: 'deny', reason: judged.reason }
    // The same text may stand for more than one command: for a function, and then for the program.
    const mine = judged.commands.filter(({ text }) => text === request.target)
    const isSafe = judged.verdict === 'safe' || (mine.length > 0 && mine.every(({ verdict }) => verdict === 'safe'))
    return isSafe ? { decision: 'allow', reason: mine[0]?.reason ?? judged.reason } : policy(request)
  }
}
