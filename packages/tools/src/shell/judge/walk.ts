/** Follows a script statement by statement, as the shell would, without running it. */
import { arithmetic, evaluated, examine } from './arithmetic.ts'
import { setPositional, setVariable, textOf } from './effects.ts'
import { isEndless, spawnsForEver } from './endless.ts'
import { execute } from './execute.ts'
import { forEachChild, type Node, parse, type Script, type Word } from './parse.ts'
import { recorded } from './record.ts'
import { redirections, written } from './redirections.ts'
import { expandToOne, expandWord, type Substitute } from './resolve.ts'
import { isDeep, mayGoOn, placeOf, type Run } from './run.ts'
import { branch, eachChoice, lookUp, NUMBER, type Scope, subshell, UNKNOWN, type Value } from './scope.ts'
import { ask, deny, type Finding, strictest } from './types.ts'
import { SHELLS } from './unwrap.ts'
import { type Arg, argOf, baseName, concat, NOTHING, type Stream, textArg } from './value.ts'
import { mayDirect } from './variables.ts'

type Of<T extends Node['type']> = Extract<Node, { readonly type: T }>

/** Text that is run as a script. */
export function runText(run: Run, scope: Scope, text: string, stdin: Stream): Stream {
  return nested(run, () => runScript(run, scope, parse(text), stdin))
}

function nested(run: Run, call: () => Stream): Stream {
  if (isDeep(run)) {
    run.findings.push(ask('it is nested too deep to be judged'))
    return {}
  }
  run.depth++
  try {
    return call()
  } finally {
    run.depth--
  }
}

export function runScript(run: Run, scope: Scope, script: Script, stdin: Stream): Stream {
  if (script.errors?.length) run.findings.push(ask(`its syntax is not understood: ${script.errors[0]?.message}`))
  return runAll(run, scope, script.commands, stdin)
}

const substituteIn =
  (run: Run, scope: Scope): Substitute =>
  (script) =>
    nested(run, () => runScript(run, subshell(scope), script, {}))

function runAll(run: Run, scope: Scope, nodes: readonly Node[], stdin: Stream): Stream {
  const streams: Stream[] = []
  for (const node of nodes) streams.push(runNode(run, scope, node, stdin))
  return concat(streams)
}

/** What need not run leaves it open what it writes. */
const perhaps = (run: Run, scope: Scope, nodes: readonly Node[], stdin: Stream): Stream => {
  mayGoOn(run, scope.vars.size / 50)
  return branch(scope, () => runAll(run, scope, nodes, stdin))
}

export function runNode(run: Run, scope: Scope, node: Node, stdin: Stream): Stream {
  if (!mayGoOn(run)) return {}
  switch (node.type) {
    case 'Command':
      return runCommand(run, scope, node, stdin)
    case 'Statement':
      return node.background ? apart(run, scope, node.command, stdin) : runNode(run, scope, node.command, stdin)
    case 'Pipeline':
      return runPipeline(run, scope, node, stdin)
    case 'AndOr':
      return runAndOr(run, scope, node, stdin)
    case 'CompoundList':
      return runAll(run, scope, node.commands, stdin)
    case 'BraceGroup':
      return runNode(run, scope, node.body, stdin)
    case 'Subshell':
      return runNode(run, subshell(scope), node.body, stdin)
    case 'If':
      return runIf(run, scope, node, stdin)
    case 'For':
    case 'Select':
      return runFor(run, scope, node, stdin)
    case 'While':
      return runWhile(run, scope, node, stdin)
    case 'ArithmeticFor':
      for (const one of [node.initialize, node.test, node.update]) if (one) arithmetic(one, scope, substituteIn(run, scope))
      if (node.test === undefined && spawnsForEver(node.body)) run.findings.push(deny('it starts processes without end'))
      return counted(run, scope, node, stdin)
    case 'Case':
      return runCase(run, scope, node, stdin)
    case 'Function':
      scope.functions.set(node.name.value, node)
      run.defined.set(node, scope)
      return NOTHING
    case 'Coproc':
      set(run, scope, node.name?.text ?? 'COPROC', NUMBER)
      return apart(run, scope, node.body, {})
    case 'Redirected':
      return runRedirected(run, scope, node, stdin)
    case 'TestCommand':
    case 'ArithmeticCommand':
      if (!eachChoice(scope, () => visit(run, scope, node))) run.findings.push(ask('its variables may have too many values'))
      if (node.type === 'TestCommand' && holdsCode(node)) run.findings.push(ask('it evaluates text as code'))
      return NOTHING
    default:
      visit(run, scope, node)
      return {}
  }
}

const visit = (run: Run, scope: Scope, node: Node): void => examine(node, scope, substituteIn(run, scope))

function set(run: Run, scope: Scope, name: string, value: Value): void {
  const finding = setVariable(scope, name, value)
  if (finding) run.findings.push(finding)
}

/** In `[[ a -eq b ]]` quoted text is an expression, whose subscripts run commands. */
function holdsCode(node: Node): boolean {
  if ((node.type === 'SingleQuoted' || node.type === 'AnsiCQuoted' || node.type === 'Literal') && /\$\(|`/.test(node.value)) return true
  let found = false
  forEachChild(node, (child) => {
    found ||= holdsCode(child)
  })
  return found
}

function apart(run: Run, scope: Scope, node: Node, stdin: Stream): Stream {
  run.spawning++
  const stream = runNode(run, subshell(scope), node, stdin)
  run.spawning--
  return stream
}

function runPipeline(run: Run, scope: Scope, { commands }: Of<'Pipeline'>, stdin: Stream): Stream {
  if (commands.length === 1) return runNode(run, scope, commands[0] as Node, stdin)
  let stream = stdin
  for (const command of commands) stream = apart(run, scope, command, stream)
  return stream
}

function runAndOr(run: Run, scope: Scope, { commands, operators }: Of<'AndOr'>, stdin: Stream): Stream {
  const [first, ...rest] = commands
  const streams = [runNode(run, scope, first as Node, stdin)]
  branch(scope, () => {
    for (const [at, node] of rest.entries())
      streams.push(operators[at] === '||' ? perhaps(run, scope, [node], stdin) : runNode(run, scope, node, stdin))
  })
  return concat(streams)
}

function runIf(run: Run, scope: Scope, node: Of<'If'>, stdin: Stream): Stream {
  const streams = [runNode(run, scope, node.clause, stdin), perhaps(run, scope, [node.then], stdin)]
  for (const { clause, then } of node.elif) streams.push(perhaps(run, scope, [clause, then], stdin))
  if (node.else) streams.push(perhaps(run, scope, [node.else], stdin))
  return open(concat(streams))
}

const open = ({ text, ...rest }: Stream): Stream => (text === '' ? NOTHING : rest)

/** Twice, so that what the first round sets counts in the second. */
function again(run: Run, scope: Scope, nodes: readonly Node[], stdin: Stream): Stream {
  perhaps(run, scope, nodes, stdin)
  return open(perhaps(run, scope, nodes, stdin))
}

const MOST_ROUNDS = 100

function runFor(run: Run, scope: Scope, node: Of<'For'> | Of<'Select'>, stdin: Stream): Stream {
  const given = node.wordlist?.flatMap((word) => expandWord(word, scope, substituteIn(run, scope)))
  const items = given ?? lookUp(scope, '@').items?.map(argOf)
  const values: Value[] = (items ?? []).slice(0, MOST_ROUNDS).map(({ pieces }) => ({ items: [pieces] }))
  if (items === undefined || items.length > MOST_ROUNDS) values.push(UNKNOWN)
  const streams = values.map((value) =>
    branch(scope, () => {
      set(run, scope, node.name.value, value)
      return mayGoOn(run, 1 + scope.vars.size / 50) ? runNode(run, scope, node.body, stdin) : {}
    }),
  )
  return open(concat(streams))
}

/** What the body sets counts in the test of the next round. */
function counted(run: Run, scope: Scope, node: Of<'ArithmeticFor'>, stdin: Stream): Stream {
  const stream = again(run, scope, [node.body], stdin)
  for (const one of [node.update, node.test]) if (one) arithmetic(one, scope, substituteIn(run, scope))
  return stream
}

function runWhile(run: Run, scope: Scope, node: Of<'While'>, stdin: Stream): Stream {
  if (isEndless(node) && spawnsForEver(node.body)) run.findings.push(deny('it starts processes without end'))
  return again(run, scope, [node.clause, node.body], stdin)
}

function runCase(run: Run, scope: Scope, node: Of<'Case'>, stdin: Stream): Stream {
  expandToOne(node.word, scope, substituteIn(run, scope))
  const streams = node.items.map((item) => {
    for (const pattern of item.pattern) expandToOne(pattern, scope, substituteIn(run, scope))
    return perhaps(run, scope, [item.body], stdin)
  })
  return open(concat(streams))
}

function runRedirected(run: Run, scope: Scope, node: Of<'Redirected'>, stdin: Stream): Stream {
  const redirects = redirections(scope, placeOf(run, scope), node.redirects, stdin, substituteIn(run, scope))
  if (redirects.all.length > 0)
    keep(run, scope, strictest(redirects.findings), undefined, { environment: [], argv: [textArg('{…}')], redirects: redirects.all })
  const stream = runNode(run, scope, node.command, redirects.stdin)
  return written(scope, placeOf(run, scope), redirects, stream)
}

function runCommand(run: Run, scope: Scope, node: Of<'Command'>, stdin: Stream): Stream {
  const streams: Stream[] = []
  const complete = eachChoice(scope, () => {
    mayGoOn(run)
    streams.push(runOnce(run, scope, node, stdin))
  })
  if (!complete) run.findings.push(ask('its variables may have too many values'))
  return streams.length === 1 ? (streams[0] as Stream) : open(concat(streams))
}

function runOnce(run: Run, scope: Scope, node: Of<'Command'>, stdin: Stream): Stream {
  const substitute = substituteIn(run, scope)
  const findings: Finding[] = []
  const before = new Map<string, readonly Value[] | undefined>()
  const environment: Arg[] = []
  for (const one of node.prefix)
    if (one.type === 'Assignment') {
      const value = assignmentValue(run, scope, one, substitute)
      if (!before.has(one.name)) before.set(one.name, scope.vars.get(one.name))
      const finding = setVariable(scope, one.name, value, one.append)
      if (finding) findings.push(finding)
      else if (node.name && mayDirect(one.name, textOf(value), node.name.text)) findings.push(ask(`${one.name} may change what it does`))
      environment.push(
        argOf([{ kind: 'text', text: `${one.name}=` }, ...(value.items?.[0] ?? [{ kind: 'unknown', text: '…', quoted: true } as const])]),
      )
    }
  const argv = [node.name, ...node.args].flatMap((arg) => (arg === undefined ? [] : argumentsOf(arg, scope, substitute)))
  mayGoOn(run, argv.length / 4)
  const redirects = redirections(scope, placeOf(run, scope), node.redirects, stdin, substitute)
  if (argv.length === 0) {
    const found = strictest([...findings, ...redirects.findings])
    if (found.verdict !== 'safe' || redirects.all.length > 0)
      keep(run, scope, found, undefined, { environment, argv, redirects: redirects.all })
    return written(scope, placeOf(run, scope), redirects, redirects.all.length > 0 ? redirects.stdin : NOTHING)
  }
  const place = placeOf(run, scope)
  const result = execute(run, scope, argv, redirects.stdin)
  if (/^(?:declare|typeset|local|readonly|export)$/.test(argv[0]?.text ?? ''))
    for (const one of node.args)
      if (one.type === 'Assignment' && one.value.type === 'ArrayValue')
        setVariable(scope, one.name, assignmentValue(run, scope, one, substitute))
  for (const [name, values] of before)
    if (values) scope.vars.set(name, values)
    else scope.vars.delete(name)
  // A shell whose input and output are a connection.
  const connected =
    redirects.all.some(({ target }) => /^\/dev\/(?:tcp|udp)\//.test(target)) && argv.some(({ text }) => SHELLS.includes(baseName(text)))
  const finding = strictest([
    ...result.findings,
    ...findings,
    ...redirects.findings,
    ...(connected ? [deny('it gives others a shell')] : []),
  ])
  keep(run, scope, finding, result.name, { environment, argv, redirects: redirects.all }, place)
  return written(scope, placeOf(run, scope), redirects, result.stream)
}

function keep(
  run: Run,
  scope: Scope,
  finding: Finding,
  name: string | undefined,
  command: Parameters<typeof recorded>[2],
  place = placeOf(run, scope),
): void {
  const one = recorded(finding, name, command, place)
  const id = `${one.verdict} ${one.cwd} ${one.text} ${one.key}`
  if (!run.commands.has(id)) run.commands.set(id, one)
}

/** `export A=$x` is not split. */
function argumentsOf(arg: Word | Of<'Assignment'>, scope: Scope, substitute: Substitute): Arg[] {
  if (arg.type === 'Word') return expandWord(arg, scope, substitute)
  if (arg.value.type !== 'Word') {
    examine(arg, scope, substitute)
    elements(arg.value, scope)
    return [
      argOf([
        { kind: 'text', text: `${arg.name}=` },
        { kind: 'unknown', text: '(…)', quoted: true },
      ]),
    ]
  }
  return [argOf([{ kind: 'text', text: `${arg.name}${arg.append ? '+' : ''}=` }, ...expandToOne(arg.value, scope, substitute).pieces])]
}

function assignmentValue(run: Run, scope: Scope, { value, index }: Of<'Assignment'>, substitute: Substitute): Value {
  if (index) evaluated(index, scope, substitute)
  if (value.type === 'ArrayValue') {
    elements(value, scope)
    return { items: value.elements.flatMap((word) => expandWord(word, scope, substitute)).map(({ pieces }) => pieces) }
  }
  const arg = expandToOne(value, scope, substitute)
  // As an expression such text runs what is in it.
  if (!arg.dynamic && /\$\(|`/.test(arg.text) && arg.text.length < 1000) {
    run.findings.push(ask('a variable holds code'))
    examine(parse(`: "${arg.text.replaceAll('"', '\\"')}"`), scope, substitute)
  }
  if (index) return { items: undefined }
  return { items: [arg.pieces] }
}

/** `([i]=x)`: what it calculates. */
function elements({ elements }: Extract<Of<'Assignment'>['value'], { readonly type: 'ArrayValue' }>, scope: Scope): void {
  for (const { text } of elements) {
    const [, subscript] = /^\[(.*?)\]\+?=/s.exec(text) ?? []
    if (subscript !== undefined && !/^\d+$/.test(subscript)) scope.notes.add('it calculates with what may be code')
  }
}

/** Runs a function with arguments of its own. */
export function callFunction(
  run: Run,
  scope: Scope,
  name: string,
  args: readonly Arg[],
  stdin: Stream,
): { stream: Stream; findings: readonly Finding[] } {
  const definition = scope.functions.get(name)
  if (definition) run.called.add(definition)
  if (definition?.type !== 'Function') return { stream: {}, findings: [] }
  const began = run.running.get(definition)
  if (began !== undefined)
    return { stream: {}, findings: [run.spawning > began ? deny('it starts processes without end') : ask('it calls itself')] }
  const old = ['@', '*', ...Array.from({ length: 50 }, (_, at) => String(at + 1))].map((one) => [one, scope.vars.get(one)] as const)
  run.running.set(definition, run.spawning)
  setPositional(scope, args)
  const stream = nested(run, () => runNode(run, scope, definition.body, stdin))
  run.running.delete(definition)
  for (const [one, values] of old)
    if (values) scope.vars.set(one, values)
    else scope.vars.delete(one)
  return { stream, findings: [] }
}
