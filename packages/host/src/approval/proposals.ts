/** Computes the rules that an approval answer stands for. Pure. */
import { type ApprovalRequest, type AskedTarget, literalPattern, type PolicyRule } from '@mulligan/core'
import type { ShellRules } from './shell.ts'
import { type ParsedCommand, prefixOf } from './shell-rules.ts'

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
  if (!commands) return { rules: [{ decision: 'allow', tool, effect }], covers: `all ${tool} (${effect}) calls` }
  if (!asks.every(({ target }) => isExact(target, commands))) return undefined
  const background = String(input['background'] ?? false)
  const rules = asks
    .flatMap(({ target }) => prefixRules(request, target, commands, shell) ?? exactRules(request, target, commands, shell))
    .map((rule) => ({ ...rule, input: { ...rule.input, background } }))
  const covered = asks.map(({ target }) => coveredBy(request, target, commands, shell))
  return { rules, covers: `${[...new Set(covered)].join('; ')}${background === 'true' ? '; in the background' : ''}` }
}

/**
 * What may be written down, the narrowest first. Not where only a person may answer, nor for commands whose words do not say all that
 * they do: those are only ever allowed once.
 */
export function proposals(request: ApprovalRequest, asks: readonly AskedTarget[], shell: Shell): readonly (readonly PolicyRule[])[] {
  if (request.forced) return []
  const commands = shell.commandsOf(request)
  if (commands && !asks.every(({ target }) => isExact(target, commands))) return []
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

/** Of the shell in the folder that it runs in. */
function exactRules(
  request: ApprovalRequest,
  target: string,
  commands: readonly ParsedCommand[] | undefined,
  shell: Shell,
): readonly PolicyRule[] {
  const { tool, effect } = request
  const rule: PolicyRule = { decision: 'allow', tool, effect, target: literalPattern(target) }
  if (!commands) return [rule]
  return [{ ...rule, input: placeOf(request, target, shell) }]
}

function prefixRules(
  request: ApprovalRequest,
  target: string,
  commands: readonly ParsedCommand[],
  shell: Shell,
): readonly PolicyRule[] | undefined {
  const { tool, effect } = request
  const input = placeOf(request, target, shell)
  return prefixesOf(target, commands)?.map((prefix) => ({ decision: 'allow', tool, effect, target: prefix, input }))
}

/** Where it runs. Who keeps what it did on a layer has not allowed it on the real files. */
function placeOf({ changes, input, ...request }: ApprovalRequest, target: string, shell: Shell): NonNullable<PolicyRule['input']> {
  const cwd = literalPattern(shell.folderOf({ ...request, input }, target))
  const writes = changes ? 'layer' : input['writes']
  return { cwd, ...(typeof writes === 'string' && { writes }) }
}

function coveredBy(request: ApprovalRequest, target: string, commands: readonly ParsedCommand[], shell: Shell): string {
  const folder = shell.folderOf(request, target)
  const where = folder === '.' ? 'in the workspace folder' : `in ${folder}`
  const prefixes = prefixesOf(target, commands)
  if (prefixes) return `${prefixes.map((prefix) => prefix.replace(/\*$/, '…')).join(', ')} ${where}`
  return `exactly ${target} ${where}`
}

const find = (target: string, commands: readonly ParsedCommand[]) => commands.find(({ text }) => text === target)

/** Wherever it is in the script. */
function isExact(target: string, commands: readonly ParsedCommand[]): boolean {
  const mine = commands.filter(({ text }) => text === target)
  return mine.length > 0 && mine.every((one) => one.isExact)
}

function prefixesOf(target: string, commands: readonly ParsedCommand[]): readonly string[] | undefined {
  const command = find(target, commands)
  return command && prefixOf(command)
}
