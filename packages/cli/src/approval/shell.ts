/** The shell's part in approvals: what its judge says of a command. */
import type { ApprovalRequest, Policy } from '@mulligan/core'
import { createJudge, judgedPolicy } from '@mulligan/tools'
import type { ParsedCommand } from './shell-rules.ts'

export type ShellCall = Pick<ApprovalRequest, 'tool' | 'input'>

export interface ShellJudge {
  /** What is safe is allowed, what destroys or leaks is denied; the policy decides on the rest. */
  readonly judged: (policy: Policy) => Policy
  /** The simple commands of a call of the shell; undefined for other tools. */
  readonly commandsOf: (call: ShellCall) => readonly ParsedCommand[] | undefined
  /** Why a target of the shell is not plainly safe. */
  readonly reasonOf: (call: ShellCall, target: string) => string | undefined
}

export function shellJudge(workspace: string): ShellJudge {
  const judge = createJudge({ workspace })
  const judgedOf = ({ tool, input: { command, cwd } }: ShellCall) =>
    tool === 'bash' && typeof command === 'string' ? judge(command, typeof cwd === 'string' ? cwd : '.') : undefined
  return {
    judged: (policy) => judgedPolicy(policy, { workspace }),
    commandsOf: (call) => judgedOf(call)?.commands,
    reasonOf: (call, target) => {
      const judged = judgedOf(call)
      return (judged?.commands.find(({ text, verdict }) => text === target && verdict !== 'safe') ?? judged?.whole)?.reason
    },
  }
}
