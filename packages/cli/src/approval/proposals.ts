/** Which rules stand for an answer. Pure. */
import { type ApprovalRequest, type AskedTarget, literalPattern, type PolicyRule } from '@mulligan/core'
import type { ShellRules } from './shell.ts'
import { type ParsedCommand, prefixOf, standsAlone } from './shell-rules.ts'

export interface SessionOffer {
  readonly rules: readonly PolicyRule[]
  /** What it covers, for the person. */
  readonly covers: string
}

/** What it is given to know of the shell. */
type Shell = Pick<ShellRules, 'commandsOf' | 'folderOf'>

/** For the session: the tool, of the shell only commands like these. What leaves this machine asks each time. */
export function sessionOffer(request: ApprovalRequest, asks: readonly AskedTarget[], shell: Shell): SessionOffer | undefined {
  const { tool, effect, input, forced } = request
  if (forced || effect === 'external') return undefined
  const commands = shell.commandsOf(request)
  if (!commands) return { rules: [{ decision: 'allow', tool, effect }], covers: `every ${tool} (${effect})` }
  const background = String(input['background'] ?? false)
  const rules = asks
    .flatMap(({ target }) => prefixRules(request, target, commands, shell) ?? exactRules(request, target, commands, shell))
    .map((rule) => ({ ...rule, input: { ...rule.input, background } }))
  const covered = asks.map(({ target }) => coveredBy(request, target, commands, shell))
  return { rules, covers: `${[...new Set(covered)].join('; ')}${background === 'true' ? '; in the background' : ''}` }
}

/** What may be written down, the narrowest first. Not where only a person may answer. */
export function proposals(request: ApprovalRequest, asks: readonly AskedTarget[], shell: Shell): readonly (readonly PolicyRule[])[] {
  if (request.forced) return []
  const commands = shell.commandsOf(request)
  const exact = asks.flatMap(({ target }) => exactRules(request, target, commands, shell))
  if (commands) {
    const isWider = asks.some(({ target }) => prefixRules(request, target, commands, shell) !== undefined)
    const wider = asks.flatMap(
      ({ target }) => prefixRules(request, target, commands, shell) ?? exactRules(request, target, commands, shell),
    )
    return isWider ? [exact, wider] : [exact]
  }
  return request.effect === 'write' ? [exact, [{ decision: 'allow', tool: request.tool, effect: 'write' }]] : [exact]
}

/** In the folder that it runs in. A command whose text is not all that is asked about: only in the very script that it stands in. */
function exactRules(
  request: ApprovalRequest,
  target: string,
  commands: readonly ParsedCommand[] | undefined,
  shell: Shell,
): readonly PolicyRule[] {
  const { tool, effect, input } = request
  const rule: PolicyRule = { decision: 'allow', tool, effect, target: literalPattern(target) }
  if (!commands) return [rule]
  const cwd = literalPattern(shell.folderOf(request, target))
  const script = isWhole(target, commands) ? {} : { command: literalPattern(String(input['command'])) }
  return [{ ...rule, input: { ...script, cwd } }]
}

function prefixRules(
  request: ApprovalRequest,
  target: string,
  commands: readonly ParsedCommand[],
  shell: Shell,
): readonly PolicyRule[] | undefined {
  const { tool, effect } = request
  const cwd = literalPattern(shell.folderOf(request, target))
  return prefixesOf(target, commands)?.map((prefix) => ({ decision: 'allow', tool, effect, target: prefix, input: { cwd } }))
}

function coveredBy(request: ApprovalRequest, target: string, commands: readonly ParsedCommand[], shell: Shell): string {
  const folder = shell.folderOf(request, target)
  const where = folder === '.' ? 'in the workspace folder' : `in ${folder}`
  const prefixes = prefixesOf(target, commands)
  if (prefixes) return `${prefixes.map((prefix) => prefix.replace(/\*$/, '…')).join(', ')} ${where}`
  return isWhole(target, commands) ? `exactly ${target} ${where}` : `this very script ${where}`
}

const find = (target: string, commands: readonly ParsedCommand[]) => commands.find(({ text }) => text === target)

function isWhole(target: string, commands: readonly ParsedCommand[]): boolean {
  const command = find(target, commands)
  return command !== undefined && standsAlone(command)
}

function prefixesOf(target: string, commands: readonly ParsedCommand[]): readonly string[] | undefined {
  const command = find(target, commands)
  return command && standsAlone(command) ? prefixOf(command) : undefined
}
