/** Connects approvals with the command policy of the shell. */
import { type ApprovalRequest, type Policy, type PolicyRule, rulesPolicy } from '@mulligan/core'
import { commandRules, createCommandPolicy, folderOfTarget, shellPolicy } from '@mulligan/tools'

/** What approvals need to know of a simple command, as parsed by the command policy of the shell tools. */
export interface ParsedCommand {
  readonly text: string
  /** The text shows everything the command does, so it may be allowed again. */
  readonly isExact: boolean
  readonly writes: boolean
}

export type ShellCall = Pick<ApprovalRequest, 'tool' | 'input'>

/** What the rules of a session need to know about the shell. */
export interface ShellRules {
  /** Returns the simple commands of a shell call; undefined for other tools. */
  readonly commandsOf: (call: ShellCall) => readonly ParsedCommand[] | undefined
  /** Returns the folder that a target of the shell runs in, relative to the workspace. */
  readonly folderOf: (call: ShellCall, target: string) => string
  /** Rules that understand what a command does and where it runs. */
  readonly rules: typeof rulesPolicy
}

export interface ShellApproval extends ShellRules {
  /** Allows listed commands and asks the user about destructive ones; the policy decides on the rest. */
  readonly guarded: (policy: Policy) => Policy
  /** Returns why a target of the shell needs approval. */
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
