/** Runs a command by its words: functions, aliases and prefixes down to the programs. */
import { destructive } from './destructive.ts'
import { effectsOf, setPositional, setVariable } from './effects.ts'
import { globMatcher } from './glob.ts'
import type { Inner } from './inner.ts'
import { judgeLeaf } from './leaf.ts'
import { operandsOf } from './options.ts'
import { outputOf } from './output.ts'
import { absolute } from './paths.ts'
import { fileOf } from './redirections.ts'
import { mayGoOn, newRun, placeOf, type Run } from './run.ts'
import { branch, known, type Scope, subshell, UNKNOWN } from './scope.ts'
import { secretRead } from './secrets.ts'
import { ask, deny, type Finding, type Place, strictest } from './types.ts'
import { unwrap } from './unwrap.ts'
import { type Arg, baseName, isAssumed, originOf, type Stream, textArg } from './value.ts'
import { mayDirect } from './variables.ts'

export interface Result {
  readonly name: string | undefined
  readonly findings: readonly Finding[]
  readonly stream: Stream
}

const LATER = 'what it runs is known only when it runs'
/** What a pattern in place of a name may stand for. */
const PATTERN_NAMES = ['rm', 'dd', 'shred', 'mkfs', 'chmod', 'chown', 'find', 'mv', 'reboot', 'shutdown', 'cat', 'tee', 'kill', 'wipefs']

/** A function of such a name is no reason to take its calls for harmless. */
const WORTH_SHADOWING = new Set(
  (
    'rm rmdir mv cp ln dd tee touch mkdir truncate shred install chmod chown chgrp kill killall pkill git npm npx pnpm yarn bun node deno ' +
    'python python3 perl ruby php sh bash zsh dash eval exec source sudo su doas ssh scp rsync curl wget nc docker podman kubectl make cmake ' +
    'pip pip3 cargo go gcc tar unzip zip sed awk find xargs env crontab systemctl service apt apt-get dnf yum brew mount umount'
  ).split(' '),
)

export function execute(run: Run, scope: Scope, argv: readonly Arg[], stdin: Stream): Result {
  const [program, ...args] = argv
  if (program === undefined || !mayGoOn(run)) return { name: undefined, findings: [], stream: {} }
  if (program.dynamic) return { name: undefined, findings: [unknownProgram(run, scope, program, args)], stream: {} }
  if (program.glob) return { name: undefined, findings: [patternProgram(run, scope, program, args)], stream: {} }
  const { text } = program
  if (scope.functions.has(text)) {
    const { findings, stream } = run.shell.callFunction(run, scope, text, args, stdin)
    return { name: text, stream, findings: [...findings, ...shadowed(run, scope, argv)] }
  }
  if (text === 'unset') for (const arg of args) forget(scope, arg)
  const alias = scope.aliases.get(text)
  if (alias !== undefined) return byAlias(run, scope, text, alias, args, stdin)
  const name = baseName(text)
  const place = placeOf(run, scope)
  const own = text.includes('/') ? fileOf(scope, place, program) : undefined
  if (own) {
    const { findings, stream } = runInner(run, scope, { code: own, positional: args }, stdin)
    return { name, findings: [...findings, ask('it runs a file')], stream }
  }
  const unwrapped = unwrap(name, args, stdin, place)
  if (unwrapped === undefined) return leaf(run, scope, program, args, stdin)
  const hard = destructive(name, args, place)
  const results = unwrapped.inner.map((inner) => runInner(run, scope, inner, stdin))
  const findings = [
    ...(hard ? [hard] : []),
    ...(unwrapped.finding ? [unwrapped.finding] : []),
    ...ownReads(name, args, unwrapped.inner, place),
    ...(isAssumed(program) ? [ask(LATER)] : []),
    ...(text.includes('/') && !/^\/(?:usr\/)?s?bin\//.test(text) ? [ask('it runs a program by its path')] : []),
    ...(name === 'find' ? [findItself(run, scope, program, args)] : []),
    ...results.flatMap((one) => one.findings),
  ]
  const only = results.length === 1 ? results[0] : undefined
  return { name: only?.name ?? name, findings, stream: only && name !== 'find' ? only.stream : {} }
}

/** What the name of a function is a program's name for: the function may not be there, as after `unset -f`, or not when it counts. */
function shadowed(run: Run, scope: Scope, argv: readonly Arg[]): readonly Finding[] {
  const name = argv[0]?.text ?? ''
  const aside = subshell(scope)
  aside.functions.delete(name)
  const own = { ...newRun(run.workspace, run.home, run.shell), steps: run.steps, depth: run.depth }
  const { findings } = execute(own, aside, argv, {})
  run.steps = own.steps
  return findings.filter(({ verdict }) => verdict === 'deny' || (verdict === 'ask' && WORTH_SHADOWING.has(name)))
}

function forget(scope: Scope, { text, dynamic, glob }: Arg): void {
  if (dynamic || glob) scope.functions.clear()
  else scope.functions.delete(text)
}

/** `xargs -a file`: what it reads itself. */
function ownReads(name: string, args: readonly Arg[], inner: readonly Inner[], place: Place): Finding[] {
  const passed = new Set(inner.flatMap(({ argv, positional }) => [...(argv ?? []), ...(positional ?? [])]))
  const path = secretRead(
    name,
    args.filter((arg) => !passed.has(arg)),
    place,
  )
  return path === undefined ? [] : [deny(`it reads keys (${path})`)]
}

/** The search, without what it runs. */
function findItself(run: Run, scope: Scope, program: Arg, args: readonly Arg[]): Finding {
  const rest: Arg[] = []
  let skipping = false
  for (const [at, arg] of args.entries()) {
    if (/^-(?:exec|execdir|ok|okdir)$/.test(arg.text)) skipping = true
    if (!skipping) rest.push(arg)
    else if (arg.text === ';' || (arg.text === '+' && args[at - 1]?.text === '{}')) skipping = false
  }
  return strictest(leaf(run, scope, program, rest, {}).findings)
}

function runInner(run: Run, scope: Scope, inner: Inner, outer: Stream): Result {
  const stdin = inner.ownInput ? {} : outer
  const own = inner.cwd || inner.environment?.length ? subshell(scope) : scope
  if (inner.cwd) {
    const path = inner.cwd.dynamic ? undefined : absolute(inner.cwd.text, placeOf(run, scope))
    own.vars.set('PWD', [path === undefined ? UNKNOWN : known(path)])
  }
  const findings = (inner.environment ?? []).flatMap(({ text, dynamic }) => {
    const [name, value] = [text.split('=', 1)[0] as string, text.replace(/^[^=]*=/, '')]
    const finding = setVariable(own, name, known(value))
    if (finding) return finding
    return mayDirect(name, dynamic ? undefined : value, inner.argv?.[0]?.text ?? '') ? ask(`${name} may change what it does`) : []
  })
  if (inner.argv) {
    // What another program starts is no function of this shell, nor is `command x`.
    const name = inner.argv[0]?.text ?? ''
    const held = own.functions.get(name)
    own.functions.delete(name)
    const result = execute(run, own, inner.argv, stdin)
    if (held) own.functions.set(name, held)
    return { ...result, findings: [...findings, ...result.findings] }
  }
  const code = inner.file && !inner.file.dynamic ? (fileOf(scope, placeOf(run, scope), inner.file) ?? {}) : (inner.code ?? {})
  return { ...runCode(run, own, code, inner), name: undefined }
}

/** @returns whether it may run at all; what it does is judged command by command */
function runCode(
  run: Run,
  scope: Scope,
  { text, origin, loose }: Stream,
  { positional, file }: Inner,
): { findings: Finding[]; stream: Stream } {
  const found: Finding[] = []
  if (origin) found.push(deny(origin === 'network' ? 'it runs what comes from the network' : 'it runs what is hidden in encoded text'))
  const { cwd, home, workspace } = placeOf(run, scope)
  if (file && !file.dynamic && /^(?:\/etc|\/proc)\//.test(absolute(file.text, { cwd }) ?? '')) found.push(ask('it runs a file'))
  const secret = file && strictest(leaf(newRun(workspace, home, run.shell), scope, textArg('cat'), [file], {}).findings)
  if (secret?.verdict === 'deny') found.push(secret)
  if (loose) found.push(ask('it runs names of files as code'))
  if (text === undefined) {
    if (!origin) found.push(ask(LATER))
    return { findings: found, stream: {} }
  }
  const inside = subshell(scope)
  setPositional(inside, positional?.slice(file ? 0 : 1) ?? [])
  return { findings: found, stream: branch(scope, () => run.shell.runText(run, copyBack(inside, scope), text, {})) }
}

/** `eval` and functions change the shell they run in; that a `bash -c` does not makes no difference worth telling apart. */
const copyBack = (inside: Scope, scope: Scope): Scope => {
  for (const [name, values] of inside.vars) if (/^(?:\d+|[@*])$/.test(name)) scope.vars.set(name, values)
  return scope
}

function byAlias(run: Run, scope: Scope, name: string, text: string, args: readonly Arg[], stdin: Stream): Result {
  const words = args.map((arg) => (arg.dynamic || arg.glob ? arg.text : `'${arg.text.replaceAll("'", `'\\''`)}'`)).join(' ')
  const inside = { ...subshell(scope), aliases: new Map([...scope.aliases].filter(([one]) => one !== name)) }
  run.called.add(`alias ${name}`)
  return { name, findings: [ask('it is an alias')], stream: run.shell.runText(run, inside, `${text} ${words}`, stdin) }
}

function leaf(run: Run, scope: Scope, program: Arg, args: readonly Arg[], stdin: Stream): Result {
  const place = placeOf(run, scope)
  const name = baseName(program.text)
  const finding = judgeLeaf({
    program,
    args,
    stdin,
    place,
    fileOf: (arg) => fileOf(scope, place, arg),
    judge: (script) => judgeAside(run, scope, script),
  })
  const effects = effectsOf(name, args, stdin, scope, place.cwd)
  const stream = outputOf(name, args, stdin, place)
  if (name === 'tee') for (const { text } of operandsOf(args)) keepFile(scope, text, place.cwd, stdin)
  return { name, findings: [finding, ...effects], stream }
}

function keepFile(scope: Scope, text: string, cwd: string | undefined, stream: Stream): void {
  const path = absolute(text, { cwd })
  if (path !== undefined) scope.files.set(path, stream)
}

/** Judges text that may be a script, and keeps nothing of it. */
function judgeAside(run: Run, scope: Scope, script: string): Finding {
  const aside = { ...newRun(run.workspace, run.home, run.shell), steps: run.steps, depth: run.depth + 1 }
  run.shell.runText(aside, { ...subshell(scope), notes: new Set() }, script, {})
  run.steps = aside.steps
  return strictest([...aside.findings, ...aside.commands.values()])
}

function unknownProgram(run: Run, scope: Scope, program: Arg, args: readonly Arg[]): Finding {
  const origin = originOf(program)
  if (origin) return deny(origin === 'network' ? 'it runs what comes from the network' : 'it runs what is hidden in encoded text')
  if (/^\$\{?0\}?$/.test(program.text) && run.spawning > 0) return deny('it starts processes without end')
  const place = placeOf(run, scope)
  // Whatever it is: with these arguments nothing but a deletion makes sense.
  if (args.some(({ text }) => /^-\w*[rR]\w*$/.test(text))) {
    const found = destructive('rm', args, place)
    if (found) return found
  }
  return ask(LATER)
}

function patternProgram(run: Run, scope: Scope, program: Arg, args: readonly Arg[]): Finding {
  const takes = globMatcher(baseName(program.text))
  const place = placeOf(run, scope)
  return strictest([ask(LATER), ...PATTERN_NAMES.filter(takes).flatMap((name) => destructive(name, args, place) ?? [])])
}
