/**
 * Classifies a command in a workspace by its text. For commands that would run without approval, also checks where their paths really lead.
 */
import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, relative, resolve } from 'node:path'
import { type Policy, type PolicyRule, rulesPolicy } from '@mulligan/core'
import { type PolicyDecision, type PolicyRequest, strictestOf } from '@mulligan/core/executor'
import { isBelow, isSecretPath, takes } from './paths.ts'
import { type CommandVerdict, readCommand, type SimpleCommand } from './read-command.ts'

export interface CommandPlace {
  /** Absolute path of the workspace. */
  readonly workspace: string
  /** Default: the current user's home. */
  readonly home?: string
  /** Used instead of creating a new one, so that several policies for one call read its command only once. */
  readonly commandPolicy?: CommandPolicy
}

export type CommandPolicy = (command: string, cwd?: string) => CommandVerdict

/**
 * Creates a command policy for a workspace. Caches the last command, because it is queried for each of its targets in turn.
 *
 * @example
 * createCommandPolicy({ workspace: process.cwd() })('ls -la').verdict // 'safe'
 */
export function createCommandPolicy({ workspace, home = homedir(), commandPolicy }: CommandPlace): CommandPolicy {
  if (commandPolicy) return commandPolicy
  let last: { readonly command: string; readonly cwd: string; readonly read: CommandVerdict } | undefined
  return (command, cwd = '.') => {
    if (last?.command !== command || last.cwd !== cwd)
      last = { command, cwd, read: readCommand(command, { cwd: resolve(workspace, cwd), workspace: resolve(workspace), home }) }
    const { read } = last
    // Not cached: a link may have been created since.
    const [program = ''] = read.commands[0]?.words ?? []
    if (read.verdict === 'ask' || (staysInside(read.paths, workspace, home) && !isShadowed(program, resolve(workspace, cwd), workspace)))
      return read
    const reason = 'a link leads it out of the workspace or to a file with keys, or its program is one of the workspace'
    return { ...read, verdict: 'ask', reason, commands: read.commands.map((one) => ({ ...one, reason })) }
  }
}

/** True if all paths stay in the workspace. A path that does not exist leads nowhere. */
function staysInside(paths: readonly string[], workspace: string, home: string): boolean {
  const root = realPath(workspace) ?? workspace
  return paths.every((path) => {
    const real = realPath(path)
    return real === undefined || (isBelow(real, root) && !isSecretPath(real, home))
  })
}

/**
 * True if a program in the workspace hides the real one: `npx` puts the workspace's `node_modules/.bin` first in PATH, where an earlier
 * call may have put its own `ls`.
 */
function isShadowed(program: string, cwd: string, workspace: string): boolean {
  const folders = (process.env['PATH'] ?? '').split(delimiter).map((folder) => resolve(cwd, folder))
  const own = folders.filter((folder) => isBelow(realPath(folder) ?? folder, realPath(workspace) ?? workspace))
  return own.some((folder) => realPath(resolve(folder, program)) !== undefined)
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch {
    return undefined
  }
}

/**
 * Returns the targets of a shell call: its simple commands, normalised to one spelling, and the whole script if it is more than those. The
 * script is marked so that no pattern for a command matches it.
 */
export function commandTargets({ commands, whole }: CommandVerdict, command: string): readonly string[] {
  return [...new Set(commands.map(({ text }) => text)), ...(whole ? [`(script) ${command.trim()}`] : [])]
}

/** Returns the keys under which a denied command is remembered: the same for the same command on the same paths, wherever it was denied. */
export const commandKeys = ({ commands }: CommandVerdict, target: string): readonly string[] =>
  commands.flatMap(({ text, key }) => (text === target ? [key] : []))

/**
 * Wraps a policy for `bash`: listed commands that only read are allowed, and destructive ones need approval whatever `policy` says, unless
 * it denies. `policy` decides on all others. Ending what the session itself started is allowed.
 *
 * @example
 * shellPolicy(commandRules([{ tool: 'bash', target: 'npm test *', decision: 'allow' }]), { workspace: process.cwd() })
 */
export function shellPolicy(policy: Policy, place: CommandPlace = { workspace: process.cwd() }): Policy {
  const commandPolicy = createCommandPolicy(place)
  return (request) => {
    if (request.tool === 'bash_kill') return { decision: 'allow', reason: 'it ends what this session has started' }
    const read = verdictOf(commandPolicy, request)
    // A command that changed files is not read-only.
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
 * Extends `rulesPolicy` with rules about commands; the first match decides. A rule that denies or asks also matches the command without its
 * variables, redirects and wrapper programs. A rule that allows matches only the exact command, and only if all its words are literal.
 * `cwd` in `input` is the folder the command runs in, relative to the workspace; `writes` defaults to `layer`.
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
      // A rule on a script's text does not cover the other commands in the script.
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
 * Returns the folder a shell target runs in, relative to the workspace: `.`, `src`, or `., src` if it occurs in the script twice. If the
 * folder is only known at run time, the text also names the folder the script starts in.
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
