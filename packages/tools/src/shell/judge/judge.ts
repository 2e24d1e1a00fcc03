/** Whether a shell script may run: by each of its simple commands, however they are joined, quoted or wrapped. */
import { parse } from './parse.ts'
import { isOver, newRun, type Run } from './run.ts'
import { newScope, type Scope, subshell, UNKNOWN } from './scope.ts'
import { syntaxProblem } from './syntax.ts'
import { ask, type Judged, strictest } from './types.ts'
import { callFunction, runScript, runText } from './walk.ts'

/** Characters; a longer script is not judged. */
export const MAX_SCRIPT = 100_000

/** Substitutions; to parse many, one in the other, takes time that grows with their square. */
const MOST_SUBSTITUTIONS = 2000

export interface JudgeOptions {
  /** Where the script starts; the workspace unless told. Absolute, as are all. */
  readonly cwd?: string
  /** `/workspace` unless told. */
  readonly workspace?: string
  /** `/home/user` unless told. */
  readonly home?: string
}

/**
 * Pure: it runs nothing and looks at no file. `safe` is what only reads; `deny` is what no mode may allow.
 *
 * @example judgeCommand('git status && rm -rf build').verdict // 'ask'
 */
export function judgeCommand(script: string, { cwd, workspace = cwd ?? '/workspace', home = '/home/user' }: JudgeOptions = {}): Judged {
  if (script.length > MAX_SCRIPT) return unjudged('it is too long to be judged')
  if ((script.match(/\$\(|\(\(|`/g)?.length ?? 0) > MOST_SUBSTITUTIONS) return unjudged('it is too much to be judged')
  const run = newRun(clean(workspace), clean(home), { runText, callFunction })
  try {
    const scope = newScope({ cwd: clean(cwd ?? workspace), workspace: run.workspace, home: run.home })
    runScript(run, scope, parse(script), {})
    callTheRest(run, scope)
    for (const note of scope.notes) run.findings.push(ask(note))
    // Bash leaves them out, and so joins what they part.
    if (script.includes('\0')) run.findings.push(ask('it holds characters that cannot be seen'))
    return judged(run, script)
  } catch (error) {
    // What cannot be judged is asked about. The stack is all that a script can exhaust.
    if (!(error instanceof RangeError)) throw error
    return unjudged('it cannot be judged', [...run.commands.values()])
  }
}

const unjudged = (reason: string, commands: Judged['commands'] = []): Judged => ({
  ...strictest([ask(reason), ...commands]),
  commands,
  whole: ask(reason),
})

const clean = (path: string): string => path.replace(/(?<=.)\/+$/, '')

function judged(run: Run, script: string): Judged {
  const commands = [...run.commands.values()]
  const syntaxError = syntaxProblem(script)
  const syntax = syntaxError ? [ask(`its syntax is wrong: ${syntaxError.message}`)] : []
  const over = isOver(run) ? [ask('it is too much to be judged')] : []
  const { verdict, reason } = strictest([...syntax, ...commands, ...run.findings, ...over])
  const whole = strictest([...syntax, ...run.findings, ...over])
  return { verdict, reason, commands, ...(whole.verdict !== 'safe' && { whole }), ...(syntaxError && { syntaxError }) }
}

/** What is only defined may be called by the next script. */
function callTheRest(run: Run, scope: Scope): void {
  for (const [definition, around] of run.defined) {
    if (definition.type !== 'Function' || run.called.has(definition)) continue
    const inside = subshell(around)
    inside.functions.set(definition.name.value, definition)
    for (let at = 1; at < 10; at++) inside.vars.set(String(at), [UNKNOWN])
    run.findings.push(...callFunction(run, inside, definition.name.value, [], {}).findings)
  }
  for (const [name, text] of scope.aliases) if (!run.called.has(`alias ${name}`)) runText(run, subshell(scope), text, {})
}
