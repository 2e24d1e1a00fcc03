/** Computes the rules that an approval answer adds. Pure. */
import type { ApprovalRequest, PolicyRule } from '@mulligan/core'
import { type AskedTarget, literalPattern } from '@mulligan/core/executor'
import type { ParsedCommand, ShellRules } from './shell.ts'

export interface SessionOffer {
  readonly rules: readonly PolicyRule[]
  /** What the rules allow, for the user. */
  readonly covers: string
}

/** The parts of the shell rules used here. */
type Shell = Pick<ShellRules, 'commandsOf' | 'folderOf'>

/**
 * Returns the rules for the rest of the session: all calls of the tool, or for the shell only commands like these. Calls that reach other
 * machines ask each time.
 */
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
 * Returns the rules that may be written to the user's file, the narrowest first. There are none if only the user may answer, or for
 * commands whose text does not show all that they do: those are only ever allowed once.
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

/** Returns rules for exactly this target; shell commands only in the folder that they run in. */
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

/**
 * Returns the conditions for where a command runs. Keeping the changes that a command made on a layer does not allow it to run on the real
 * files.
 */
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

/** Whether the target is exact everywhere it occurs in the script. */
function isExact(target: string, commands: readonly ParsedCommand[]): boolean {
  const mine = commands.filter(({ text }) => text === target)
  return mine.length > 0 && mine.every((one) => one.isExact)
}

function prefixesOf(target: string, commands: readonly ParsedCommand[]): readonly string[] | undefined {
  const command = find(target, commands)
  return command && prefixOf(command)
}

/**
 * Commands that pass on everything behind `--` unread, so further arguments cannot name programs, settings or folders of the command
 * itself.
 */
const BEGINNINGS = /^(?:(?:npm|pnpm|yarn|bun) (?:test|run \w[\w:./@+-]*)|cargo test)(?=$| -- )/

/** Returns `npm test` and `npm test -- *` for `npm test`, or `undefined` if only the exact command may be allowed. */
export function prefixOf({ text, isExact, writes }: ParsedCommand): readonly string[] | undefined {
  const begins = isExact && !writes ? BEGINNINGS.exec(text)?.[0] : undefined
  return begins === undefined ? undefined : [begins, `${begins} -- *`]
}
