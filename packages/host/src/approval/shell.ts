/** Connects approvals with the command policy of the shell. */
import { type ApprovalRequest, type Policy, type PolicyRule, rulesPolicy } from '@mulligan/core'
import { commandRules, createCommandPolicy, folderOfTarget, shellPolicy } from '@mulligan/tools'
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

export interface ShellApproval extends ShellRules {
  /** Listed commands are allowed, destructive ones ask a person; the policy decides on the rest. */
  readonly guarded: (policy: Policy) => Policy
  /** Why a target of the shell asks. */
  readonly reasonOf: (call: ShellCall, target: string) => string | undefined
}

export const NO_SHELL: ShellRules = { commandsOf: () => undefined, folderOf: () => '.', rules: rulesPolicy }

export function shellApproval(workspace: string): ShellApproval {
  const commandPolicy = createCommandPolicy({ workspace })
  const place = { workspace, commandPolicy }
  const verdictOf = ({ tool, input: { command, cwd } }: ShellCall) =>
    tool === 'bash' && typeof command === 'string' ? commandPolicy(command, typeof cwd === 'string' ? cwd : '.') : undefined
  return {
    guarded: (policy) => shellPolicy(policy, place),
    rules: (rules: readonly PolicyRule[], fallback?: Policy) => commandRules(rules, fallback, place),
    commandsOf: (call) => verdictOf(call)?.commands,
    folderOf: (call, target) => folderOfTarget({ commands: verdictOf(call)?.commands ?? [] }, { input: call.input, target }, workspace),
    reasonOf: (call, target) => {
      const read = verdictOf(call)
      if (!read || read.verdict === 'safe') return undefined
      return read.destructive ?? read.commands.find(({ text }) => text === target)?.reason ?? read.reason
    },
  }
}
