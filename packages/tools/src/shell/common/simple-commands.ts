/** Lists the simple commands of a script in order, with what feeds their stdin and whether their exit code can be the script's. Pure. */
import { type CompoundList, type PipelineNode, parse, type Redirection, type Statement, type Word } from 'unbash'
import { isParsable } from '../command-policy/script.ts'

export interface ScriptWord {
  /** The word without quotes. Expansions are kept as written. */
  readonly value: string
  /** Offset in the script. */
  readonly pos: number
  readonly end: number
}

export interface SimpleCommand {
  /** The name as written, without its path. Also `[[` and `((`; empty for a bare assignment. */
  readonly name: string
  /** All words, starting with the name. */
  readonly words: readonly ScriptWord[]
  /** Files redirected to stdin. */
  readonly inputs: readonly ScriptWord[]
  /** Names of variables set for this command only. */
  readonly sets: readonly string[]
  /** Stdin is a pipe, a file or a here-document, so the command does not wait for a keyboard. */
  readonly fed: boolean
  /** If this command fails, the script may end with its exit code. */
  readonly ends: boolean
  /** Started with `&`, or part of a list that is. */
  readonly background?: true
  /** Only defines a function. */
  readonly defines?: true
}

/** Characters. Anything longer is data embedded in a script. */
const MAX_PARSED = 100_000

interface Where {
  readonly fed: boolean
  readonly background?: true
  readonly ends: boolean
}
type Node = PipelineNode | Statement['command']

/**
 * Returns the simple commands, except those in substitutions and function bodies. For a script that does not parse, returns the ones that
 * were understood.
 */
export function simpleCommands(script: string): readonly SimpleCommand[] {
  if (!isParsable(script, MAX_PARSED)) return []
  /** With `set -e`, any failing command ends the script. */
  const anyEnds = /\bset [^\n;]{0,50}(?:-\w{0,9}e|errexit)/.test(script)
  const pipesEnd = script.includes('pipefail')

  const inList = (list: readonly Statement[], where: Where): SimpleCommand[] =>
    list.flatMap(({ command, background }, at) => {
      const ends = background !== true && (anyEnds || (where.ends && at === list.length - 1))
      return walk(command, { ...where, ends, ...(background === true && { background }) })
    })

  function walk(node: Node, where: Where): SimpleCommand[] {
    const { fed, ends } = where
    const block = (list: CompoundList | undefined, at = where) => inList(list?.commands ?? [], at)
    const asked = { ...where, ends: false }
    switch (node.type) {
      case 'Command': {
        const { name, args, redirects, prefix } = node
        const inputs = redirects.flatMap((one) =>
          one.type === 'Redirect' && one.operator === '<' && one.target ? [place(one.target)] : [],
        )
        const sets = prefix.flatMap((part) => (part.type === 'Assignment' ? [part.name] : []))
        return [{ ...where, ...named(name ? [place(name), ...args.map(asWord)] : []), inputs, sets, fed: fed || redirects.some(feeds) }]
      }
      case 'TestCommand':
      case 'ArithmeticCommand': {
        const name = node.type === 'TestCommand' ? '[[' : '(('
        return [{ ...NOTHING, name, words: [{ value: name, pos: node.pos, end: node.pos + 2 }], fed, ends }]
      }
      case 'Function':
        return [{ ...NOTHING, fed, defines: true }]
      case 'AndOr': {
        // A failure before the last `||` is handled by what follows.
        const lastOr = node.operators.lastIndexOf('||')
        return node.commands.flatMap((part, at) => walk(part, { ...where, ends: ends && at > lastOr }))
      }
      case 'Pipeline': {
        const says = ends && !node.prefixes.some(({ type }) => type === 'Negation')
        const last = node.commands.length - 1
        return node.commands.flatMap((part, at) => walk(part, { fed: fed || at > 0, ends: says && (pipesEnd || at === last) }))
      }
      case 'Redirected':
        return walk(node.command, { ...where, fed: fed || node.redirects.some(feeds) })
      case 'If':
        return [...[node, ...node.elif].flatMap(({ clause, then }) => [...block(clause, asked), ...block(then)]), ...block(node.else)]
      case 'Case':
        return node.items.flatMap(({ body }) => block(body))
      case 'While':
        return [...block(node.clause, asked), ...block(node.body)]
      case 'Subshell':
      case 'BraceGroup':
      case 'For':
      case 'ArithmeticFor':
      case 'Select':
        return block(node.body)
      default:
        return []
    }
  }
  const inScript = (word: ScriptWord): ScriptWord =>
    word.end <= script.length ? word : { ...word, pos: Math.min(word.pos, script.length), end: script.length }
  // The parser ends an unfinished expansion such as ``$((`\`` behind the script.
  return inList(parse(script).commands, { fed: false, ends: true }).map((command) => ({
    ...command,
    words: command.words.map(inScript),
    inputs: command.inputs.map(inScript),
  }))
}

/** True if the whole script was parsed. */
export const isParsed = (script: string): boolean => isParsable(script, MAX_PARSED) && !parse(script).errors?.length

/** Programs that run another program and exit with its code. */
const PREFIXES = new Set(['env', 'command', 'exec', 'nohup', 'nice', 'timeout', 'stdbuf', 'time', 'sudo', 'builtin', 'setsid'])

/** Strips the programs that only start the command: `env A=1 timeout 5 grep x` becomes `grep x`. */
export function started(command: SimpleCommand): SimpleCommand {
  const { words } = command
  let at = 0
  while (PREFIXES.has(baseName(words[at]?.value ?? ''))) {
    let next = at + 1
    while (next < words.length && OF_PREFIX.test(words[next]?.value ?? '')) next++
    // `command -v x` only queries and starts nothing; `env` alone is the command itself.
    const asks = words[at]?.value === 'command' && words.slice(at + 1, next).some(({ value }) => /^-\w{0,9}[vV]/.test(value))
    if (next === words.length || asks) break
    at = next
  }
  return at === 0 ? command : { ...command, ...named(words.slice(at)) }
}

/** Returns the name of the program that finally runs. */
export const startedName = (words: readonly string[]): string =>
  started({ ...NOTHING, ...named(words.map((value) => ({ value, pos: 0, end: 0 }))) }).name

/** Options, variables and durations of the prefix programs. */
const OF_PREFIX = /^-|^\w+=|^\d+(?:\.\d+)?[smhd]?$/

/** Returns the script with one of its words replaced. */
export const withWord = (script: string, { pos, end }: ScriptWord, text: string): string => script.slice(0, pos) + text + script.slice(end)

/** Quotes a word for the shell if it needs quotes. */
export const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)

export const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
const named = (words: readonly ScriptWord[]) => ({ name: baseName(words[0]?.value ?? ''), words })
const NOTHING: SimpleCommand = { ...named([]), inputs: [], sets: [], fed: false, ends: false }
const place = ({ value, pos, end }: ScriptWord): ScriptWord => ({ value, pos, end })
const asWord = (part: Word | { readonly type: 'Assignment'; readonly text: string; readonly pos: number; readonly end: number }) =>
  part.type === 'Word' ? part : place({ ...part, value: part.text })

/** True for a here-document or a file redirected to stdin. */
const feeds = (redirect: Redirection): boolean =>
  redirect.type !== 'Redirect' || (redirect.operator.startsWith('<') && (!redirect.descriptor || isStdin(redirect.descriptor)))
const isStdin = (descriptor: { readonly type: string; readonly value?: number }): boolean => descriptor.value === 0
