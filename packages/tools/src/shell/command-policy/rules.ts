/** Policies that know the shell: what a command's text says counts before anybody is asked about it. */
import { relative, resolve } from 'node:path'
import { type Policy, type PolicyDecision, type PolicyRequest, type PolicyRule, rulesPolicy, strictestOf } from '@mulligan/core'
import { type CommandPlace, type CommandPolicy, createCommandPolicy } from './command-policy.ts'
import { takes } from './paths.ts'
import type { CommandVerdict, SimpleCommand } from './read-command.ts'

/**
 * Of `bash`, listed commands that only read are allowed, and destructive ones ask a person whatever `policy` says, unless it denies;
 * it decides on each of the others. What the session itself has started may be ended.
 *
 * @example
 * shellPolicy(commandRules([{ tool: 'bash', target: 'npm test *', decision: 'allow' }]), { workspace: process.cwd() })
 */
export function shellPolicy(policy: Policy, place: CommandPlace = { workspace: process.cwd() }): Policy {
  const commandPolicy = createCommandPolicy(place)
  return (request) => {
    if (request.tool === 'bash_kill') return { decision: 'allow', reason: 'it ends what this session has started' }
    const read = verdictOf(commandPolicy, request)
    // One that changed files is none that only reads.
    if (read?.verdict === 'safe' && request.input['background'] !== true && request.changes === undefined)
      return { decision: 'allow', reason: read.reason }
    if (read?.destructive === undefined) return policy(request)
    return strictestOf(policy(request), { decision: 'ask', reason: read.destructive, forced: true })
  }
}

function verdictOf(commandPolicy: CommandPolicy, { tool, input: { command, cwd } }: PolicyRequest): CommandVerdict | undefined {
  return tool === 'bash' && typeof command === 'string' ? commandPolicy(command, typeof cwd === 'string' ? cwd : '.') : undefined
}

const NO_RULE: PolicyDecision = { decision: 'allow', reason: '' }
const LATE = 'what it runs is known only when it runs, and a rule is against some commands'

/**
 * `rulesPolicy` for rules about commands: the first that matches decides. One that denies or asks matches what the command comes
 * to as well, without variables, redirects and programs before it; one that allows, only a command whose words are all literal, as it
 * stands. `cwd` in `input` is the folder that the command runs in, from the workspace; `writes` is `layer` where a call says nothing of
 * it.
 *
 * @example
 * commandRules([{ tool: 'bash', target: 'git tag *', decision: 'deny' }], undefined, { workspace: process.cwd() })
 */
export function commandRules(rules: readonly PolicyRule[], fallback?: Policy, place: CommandPlace = { workspace: process.cwd() }): Policy {
  const commandPolicy = createCommandPolicy(place)
  const others = rulesPolicy(rules, fallback)
  const undecided = rulesPolicy([], fallback)
  const each = rules.map((rule) => {
    const { target, ...anyTarget } = rule
    const [matches, concerns] = [matcher(rule), matcher(anyTarget)]
    const program = target?.split(' ', 1)[0] ?? ''
    const isNarrow = target !== undefined || rule.input?.['command'] !== undefined
    return { rule, matches, concerns: target === undefined || rule.tool === undefined ? () => false : concerns, program, isNarrow }
  })
  return (request) => {
    const read = verdictOf(commandPolicy, request)
    if (!read) return others(request)
    const mine = read.commands.filter(({ text }) => text === request.target)
    const here: PolicyRequest = {
      ...request,
      input: { background: false, writes: 'layer', ...request.input, cwd: folderOfTarget(read, request, place.workspace) },
    }
    const isLate = mine.length === 0 ? read.whole?.isLate !== false : mine.some((one) => one.isLate)
    const isExact = mine.length > 0 && mine.every((one) => one.isExact)
    let late: PolicyDecision = NO_RULE
    for (const { rule, matches, concerns, program, isNarrow } of each) {
      const mayAllow = isExact || !isNarrow
      // A rule on the text of a script says nothing of what else is in the script.
      const isAlone = rule.input?.['command'] === undefined || read.commands.length === 1
      const is = rule.decision === 'allow' ? mayAllow && isAlone && matches(here) : isAgainst(matches, program, mine, [request, here])
      if (is) return strictestOf({ decision: rule.decision, reason: rule.reason ?? `a rule says ${rule.decision}` }, late)
      if (rule.decision !== 'allow' && isLate && (concerns(request) || concerns(here))) late = { decision: 'ask', reason: LATE }
    }
    return strictestOf(undecided(request), late)
  }
}

type Matches = (request: PolicyRequest) => boolean

function matcher(rule: PolicyRule): Matches {
  const policy = rulesPolicy([rule], () => NO_RULE)
  return (request) => policy(request) !== NO_RULE
}

function isAgainst(matches: Matches, program: string, mine: readonly SimpleCommand[], requests: readonly PolicyRequest[]): boolean {
  const targets = mine.flatMap(({ forms, isPattern }) =>
    forms.flatMap((text) => {
      const [name = ''] = text.split(' ', 1)
      return isPattern && takes(name.replaceAll("'", ''), program) ? [text, program + text.slice(name.length)] : [text]
    }),
  )
  return requests.some((request) => matches(request) || targets.some((target) => matches({ ...request, target })))
}

/**
 * Where a target of the shell runs, from the workspace: `.`, `src`; `., src` where it stands in the script twice. What is known only
 * when it runs is said with the folder that the script starts in.
 */
export function folderOfTarget(
  { commands }: { readonly commands: readonly Pick<SimpleCommand, 'text' | 'cwd'>[] },
  { input, target }: Pick<PolicyRequest, 'input' | 'target'>,
  workspace: string,
): string {
  const named = (path: string): string => relative(workspace, path) || '.'
  const start = named(resolve(workspace, typeof input['cwd'] === 'string' ? input['cwd'] : '.'))
  const mine = commands.filter(({ text }) => text === target)
  const folders = mine.map(({ cwd }) => (cwd === undefined ? `(known later) from ${start}` : named(cwd)))
  return mine.length === 0 ? start : [...new Set(folders)].sort().join(', ')
}
