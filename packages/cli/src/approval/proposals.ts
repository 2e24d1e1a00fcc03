/** Which rules stand for an answer. Pure. */
import { type ApprovalRequest, type AskedTarget, literalPattern, type PolicyRule } from '@mulligan/core'
import type { ShellJudge } from './shell.ts'
import { type ParsedCommand, prefixOf, standsAlone } from './shell-rules.ts'

export type CommandsOf = ShellJudge['commandsOf']

/** For the session: the tool, of the shell only commands like these. What leaves this machine asks each time. */
export function sessionRules(request: ApprovalRequest, asks: readonly AskedTarget[], commandsOf: CommandsOf): readonly PolicyRule[] {
  if (request.forced || request.effect === 'external') return []
  const commands = commandsOf(request)
  if (!commands) return [{ decision: 'allow', tool: request.tool, effect: request.effect }]
  return asks.map(({ target }) => prefixRule(request, target, commands) ?? exactRule(request, target, commands))
}

/** What may be written down, the narrowest first. Not where only a person may answer. */
export function proposals(
  request: ApprovalRequest,
  asks: readonly AskedTarget[],
  commandsOf: CommandsOf,
): readonly (readonly PolicyRule[])[] {
  if (request.forced) return []
  const commands = commandsOf(request)
  const exact = asks.map(({ target }) => exactRule(request, target, commands))
  if (commands) {
    const wider = asks.map(({ target }) => prefixRule(request, target, commands))
    return wider.some((rule) => rule !== undefined) ? [exact, wider.map((rule, at) => rule ?? (exact[at] as PolicyRule))] : [exact]
  }
  return request.effect === 'write' ? [exact, [{ decision: 'allow', tool: request.tool, effect: 'write' }]] : [exact]
}

/** A command whose text is not all that is asked about is allowed only in the very script that it stands in. */
function exactRule({ tool, effect, input }: ApprovalRequest, target: string, commands: readonly ParsedCommand[] | undefined): PolicyRule {
  const command = commands?.find(({ text }) => text === target)
  const rule: PolicyRule = { decision: 'allow', tool, effect, target: literalPattern(target) }
  return !commands || (command && standsAlone(command)) ? rule : { ...rule, input: { command: literalPattern(String(input['command'])) } }
}

function prefixRule({ tool, effect }: ApprovalRequest, target: string, commands: readonly ParsedCommand[]): PolicyRule | undefined {
  const command = commands.find(({ text }) => text === target)
  const prefix = command && standsAlone(command) ? prefixOf(command) : undefined
  return prefix === undefined ? undefined : { decision: 'allow', tool, effect, target: prefix }
}
