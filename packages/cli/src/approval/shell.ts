/** The shell's part in approvals: what its judge says of a command. */
import { type ApprovalRequest, type Policy, type PolicyRule, rulesPolicy } from '@mulligan/core'
import { commandRules, createJudge, folderOfTarget, judgedPolicy } from '@mulligan/tools'
import type { ParsedCommand } from './shell-rules.ts'

export type ShellCall = Pick<ApprovalRequest, 'tool' | 'input'>

/** What the rules of a session need to know of it. */
export interface ShellRules {
  /** The simple commands of a call of the shell; undefined for other tools. */
  readonly commandsOf: (call: ShellCall) => readonly ParsedCommand[] | undefined
  /** The folder that a target of the shell runs in, from the workspace. */
  readonly folderOf: (call: ShellCall, target: string) => string
  /** Rules that know what a command comes to, and where it runs. */
  readonly rules: typeof rulesPolicy
}

export interface ShellJudge extends ShellRules {
  /** What is safe is allowed, what destroys or leaks is denied; the policy decides on the rest. */
  readonly judged: (policy: Policy) => Policy
  /** Why a target of the shell is not plainly safe. */
  readonly reasonOf: (call: ShellCall, target: string) => string | undefined
}

export const NO_SHELL: ShellRules = { commandsOf: () => undefined, folderOf: () => '.', rules: rulesPolicy }

export function shellJudge(workspace: string): ShellJudge {
  const judge = createJudge({ workspace })
  const place = { workspace, judge }
  const judgedOf = ({ tool, input: { command, cwd } }: ShellCall) =>
    tool === 'bash' && typeof command === 'string' ? judge(command, typeof cwd === 'string' ? cwd : '.') : undefined
  return {
    judged: (policy) => judgedPolicy(policy, place),
    rules: (rules: readonly PolicyRule[], fallback?: Policy) => commandRules(rules, fallback, place),
    commandsOf: (call) => judgedOf(call)?.commands,
    folderOf: (call, target) => folderOfTarget({ commands: judgedOf(call)?.commands ?? [] }, { input: call.input, target }, workspace),
    reasonOf: (call, target) => {
      const judged = judgedOf(call)
      return (judged?.commands.find(({ text, verdict }) => text === target && verdict !== 'safe') ?? judged?.whole)?.reason
    },
  }
}
