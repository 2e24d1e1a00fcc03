/** The simple commands of a script, in order: what each is given on stdin, and whose exit may be the script's. Pure. */
import { type CompoundList, type PipelineNode, parse, type Redirection, type Statement, type Word } from 'unbash'
import { isParsable } from '../command-policy/script.ts'

export interface ScriptWord {
  /** Without quotes. An expansion stands there as it is written. */
  readonly value: string
  /** Where it stands in the script. */
  readonly pos: number
  readonly end: number
}

export interface SimpleCommand {
  /** As it is written, without its path; `[[` and `((` too; empty for an assignment alone. */
  readonly name: string
  /** The name first. */
  readonly words: readonly ScriptWord[]
  /** Files that it is given on stdin. */
  readonly inputs: readonly ScriptWord[]
  /** Names of variables that are set for it alone. */
  readonly sets: readonly string[]
  /** Its stdin is a pipe, a file or a text: it does not wait for a keyboard. */
  readonly fed: boolean
  /** The script may end with its exit code, where that is not 0. */
  readonly ends: boolean
  /** It is started with `&`, or in a list that is. */
  readonly background?: true
  /** It only gives a function its name. */
  readonly defines?: true
}

/** Characters: what is longer is data that was put in a script. */
const MAX_PARSED = 100_000

interface Where {
  readonly fed: boolean
  readonly background?: true
  readonly ends: boolean
}

/** Programs that run another one, whose exit code becomes theirs. */
const PREFIXES = new Set(['env', 'command', 'exec', 'nohup', 'nice', 'timeout', 'stdbuf', 'time', 'sudo', 'builtin', 'setsid'])

/** Not those in substitutions and in the bodies of functions. Of a script that does not parse, those that were understood. */
export function simpleCommands(script: string): readonly SimpleCommand[] {
  if (!isParsable(script, MAX_PARSED)) return []
  const options: Options = {
    anyEnds: /\bset [^\n;]{0,50}(?:-\w{0,9}e|errexit)/.test(script),
    pipesEnd: script.includes('pipefail'),
  }
  const walk = (node: Node, where: Where): readonly SimpleCommand[] => {
    const command = commandOf(node, where)
    return command ? [command] : partsOf(node, where, options).flatMap(([part, at]) => walk(part, at))
  }
  return inList(parse(script).commands, { fed: false, ends: true }, options).flatMap(([part, at]) => walk(part, at))
}

/** Nothing of the script was left out for want of understanding. */
export const isParsed = (script: string): boolean => isParsable(script, MAX_PARSED) && !parse(script).errors?.length

type Node = PipelineNode | Statement['command']
type Part = readonly [Node, Where]

/** What the script says of itself. */
interface Options {
  /** `set -e`: whichever command fails ends it. */
  readonly anyEnds: boolean
  readonly pipesEnd: boolean
}

function inList(list: readonly Statement[], where: Where, { anyEnds }: Options): Part[] {
  return list.map(({ command, background }, at) => {
    const ends = background !== true && (anyEnds || (where.ends && at === list.length - 1))
    return [command, { ...where, ends, ...(background === true && { background }) }]
  })
}

function partsOf(node: Node, where: Where, options: Options): readonly Part[] {
  const block = (list: CompoundList | undefined, at = where): Part[] => inList(list?.commands ?? [], at, options)
  const asked = { ...where, ends: false }
  switch (node.type) {
    case 'AndOr': {
      // What fails before it is made good by what comes after.
      const lastOr = node.operators.lastIndexOf('||')
      return node.commands.map((part, at) => [part, { ...where, ends: where.ends && at > lastOr }])
    }
    case 'Pipeline': {
      const ends = where.ends && !node.prefixes.some(({ type }) => type === 'Negation')
      const last = node.commands.length - 1
      return node.commands.map((part, at) => [part, { fed: where.fed || at > 0, ends: ends && (options.pipesEnd || at === last) }])
    }
    case 'Redirected':
      return [[node.command, { ...where, fed: where.fed || node.redirects.some(feeds) }]]
    case 'Subshell':
    case 'BraceGroup':
    case 'For':
    case 'ArithmeticFor':
    case 'Select':
      return block(node.body)
    case 'If':
      return [...[node, ...node.elif].flatMap(({ clause, then }) => [...block(clause, asked), ...block(then)]), ...block(node.else)]
    case 'While':
      return [...block(node.clause, asked), ...block(node.body)]
    case 'Case':
      return node.items.flatMap(({ body }) => block(body))
    default:
      return []
  }
}

function commandOf(node: Node, { fed, ends, background }: Where): SimpleCommand | undefined {
  if (node.type === 'TestCommand' || node.type === 'ArithmeticCommand') {
    const name = node.type === 'TestCommand' ? '[[' : '(('
    return { name, words: [{ value: name, pos: node.pos, end: node.pos + 2 }], inputs: [], sets: [], fed, ends }
  }
  if (node.type === 'Function') return { ...named([]), inputs: [], sets: [], fed, ends: false, defines: true }
  if (node.type !== 'Command') return undefined
  const { name, args, redirects, prefix } = node
  return {
    ...named(name ? [place(name), ...args.map(asWord)] : []),
    inputs: redirects.flatMap((one) => (one.type === 'Redirect' && one.operator === '<' && one.target ? [place(one.target)] : [])),
    sets: prefix.flatMap((part) => (part.type === 'Assignment' ? [part.name] : [])),
    fed: fed || redirects.some(feeds),
    ends,
    ...(background && { background }),
  }
}

/** The command without the programs that only start it: `env A=1 timeout 5 grep x` is `grep x`. */
export function started(command: SimpleCommand): SimpleCommand {
  const { words } = command
  let at = 0
  while (PREFIXES.has(baseName(words[at]?.value ?? ''))) {
    let next = at + 1
    while (next < words.length && OF_PREFIX.test(words[next]?.value ?? '')) next++
    // `command -v x` asks, and starts nothing; `env` alone is itself.
    const asks = words[at]?.value === 'command' && words.slice(at + 1, next).some(({ value }) => /^-\w{0,9}[vV]/.test(value))
    if (next === words.length || asks) break
    at = next
  }
  return at === 0 ? command : { ...command, ...named(words.slice(at)) }
}

/** The program that runs in the end. */
export const startedName = (words: readonly string[]): string =>
  started({ ...named(words.map((value) => ({ value, pos: 0, end: 0 }))), inputs: [], sets: [], fed: false, ends: false }).name

/** Their own options, variables and durations. */
const OF_PREFIX = /^-|^\w+=|^\d+(?:\.\d+)?[smhd]?$/

/** The script with one of its words replaced. */
export const withWord = (script: string, { pos, end }: ScriptWord, text: string): string => script.slice(0, pos) + text + script.slice(end)

/** A word for the shell, in quotes where it needs them. */
export const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)

const named = (words: readonly ScriptWord[]) => ({ name: baseName(words[0]?.value ?? ''), words })
const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
const place = ({ value, pos, end }: ScriptWord): ScriptWord => ({ value, pos, end })
const asWord = (part: Word | { readonly type: 'Assignment'; readonly text: string; readonly pos: number; readonly end: number }) =>
  part.type === 'Word' ? part : { value: part.text, pos: part.pos, end: part.end }

const feeds = (redirect: Redirection): boolean =>
  redirect.type !== 'Redirect' || (redirect.operator.startsWith('<') && (redirect.descriptor === undefined || isStdin(redirect.descriptor)))
const isStdin = (descriptor: { readonly type: string; readonly value?: number }): boolean => descriptor.value === 0
