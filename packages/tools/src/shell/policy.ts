/** Policies that know the shell: what a command would do is judged before anybody is asked about it. */
import { relative, resolve } from 'node:path'
import { type Policy, type PolicyDecision, type PolicyRequest, type PolicyRule, rulesPolicy, strictestOf } from '@mulligan/core'
import { createJudge, type Judge, type JudgePlace } from './common/judged.ts'
import { globMatcher } from './judge/glob.ts'
import type { Form, Judged } from './judge/types.ts'

/**
 * Of `bash`, commands that only read are allowed, and destructive ones are denied whatever `policy` says; it decides on each
 * of the others. What the session itself has started may be ended.
 *
 * @example
 * judgedPolicy(commandRules([{ tool: 'bash', target: 'npm test *', decision: 'allow' }]), { workspace: process.cwd() })
 */
export function judgedPolicy(policy: Policy, place: JudgePlace = { workspace: process.cwd() }): Policy {
  const judge = createJudge(place)
  return (request) => {
    if (request.tool === 'bash_kill') return { decision: 'allow', reason: 'it ends what this session has started' }
    const judged = judgedOf(judge, request)
    if (!judged) return policy(request)
    if (judged.verdict === 'deny') return { decision: 'deny', reason: judged.reason }
    // The same text may stand for more than one command: for a function, and then for the program.
    const mine = judged.commands.filter(({ text }) => text === request.target)
    const isSafe = judged.verdict === 'safe' || (mine.length > 0 && mine.every(({ verdict }) => verdict === 'safe'))
    return isSafe ? { decision: 'allow', reason: mine[0]?.reason ?? judged.reason } : policy(request)
  }
}

function judgedOf(judge: Judge, { tool, input: { command, cwd } }: PolicyRequest): Judged | undefined {
  return tool === 'bash' && typeof command === 'string' ? judge(command, typeof cwd === 'string' ? cwd : '.') : undefined
}

const NO_RULE: PolicyDecision = { decision: 'allow', reason: '' }
const LATE = 'what it runs is known only when it runs, and a rule is against some commands'

/**
 * `rulesPolicy` for rules about commands: the first that matches decides. One that denies or asks matches what the command comes
 * to as well, without variables, redirects and programs before it; one that allows, only the command as it stands. `cwd` in `input`
 * is the folder that the command runs in, from the workspace.
 *
 * @example
 * commandRules([{ tool: 'bash', target: 'git tag *', decision: 'deny' }], undefined, { workspace: process.cwd() })
 */
export function commandRules(rules: readonly PolicyRule[], fallback?: Policy, place: JudgePlace = { workspace: process.cwd() }): Policy {
  const judge = createJudge(place)
  const others = rulesPolicy(rules, fallback)
  const undecided = rulesPolicy([], fallback)
  const each = rules.map((rule) => {
    const { target, ...anyTarget } = rule
    const [matches, concerns] = [matcher(rule), matcher(anyTarget)]
    const program = target?.split(' ', 1)[0] ?? ''
    return { rule, matches, concerns: target === undefined || rule.tool === undefined ? () => false : concerns, program }
  })
  return (request) => {
    const judged = judgedOf(judge, request)
    if (!judged) return others(request)
    const { commands } = judged
    const mine = commands.filter(({ text }) => text === request.target)
    const cwd = folderOfTarget(judged, request, place.workspace)
    const here: PolicyRequest = { ...request, input: { background: false, ...request.input, cwd } }
    const forms = mine.flatMap((one) => one.forms)
    // What belongs to no command was not told apart from others.
    const isLate = mine.length === 0 || forms.some(({ program }) => program === 'late')
    let late: PolicyDecision = NO_RULE
    for (const { rule, matches, concerns, program } of each) {
      const is = rule.decision === 'allow' ? matches(here) : isAgainst(matches, program, forms, [request, here])
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

function isAgainst(matches: Matches, program: string, forms: readonly Form[], requests: readonly PolicyRequest[]): boolean {
  const targets = forms.flatMap(({ text, program: kind }) => {
    if (kind === 'known') return [text]
    const [name = ''] = text.split(' ', 1)
    return kind === 'pattern' && globMatcher(name)(program) ? [program + text.slice(name.length)] : []
  })
  return requests.some((request) => matches(request) || targets.some((target) => matches({ ...request, target })))
}

/**
 * Where a target of the shell runs, from the workspace: `.`, `src`; `., src` where it stands in the script twice. What is known only
 * when it runs is said with the folder that the script starts in.
 */
export function folderOfTarget(
  { commands }: Pick<Judged, 'commands'>,
  { input, target }: Pick<PolicyRequest, 'input' | 'target'>,
  workspace: string,
): string {
  const named = (path: string): string => relative(workspace, path) || '.'
  const start = named(resolve(workspace, typeof input['cwd'] === 'string' ? input['cwd'] : '.'))
  const mine = commands.filter(({ text }) => text === target)
  const folders = mine.map(({ cwd }) => (cwd === undefined ? `(known later) from ${start}` : named(cwd)))
  return mine.length === 0 ? start : [...new Set(folders)].sort().join(', ')
}
