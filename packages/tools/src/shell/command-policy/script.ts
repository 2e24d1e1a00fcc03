/**
 * Lists the simple commands of a script, however they are nested, with their words as far as the text tells them. What is read here
 * labels, shows and tightens; it never allows anything. Pure.
 */
import { forEachChild, parse, type SyntaxNode, type Word, type WordPart } from 'unbash'
import { absolute, type WorkingFolder } from './paths.ts'

export interface ScriptWord {
  /** Without quotes; an expansion that the text does not tell is `…`. */
  readonly text: string
  /** What it comes to is known only when it runs. */
  readonly dynamic: boolean
  /** The script of a substitution in it, as text. */
  readonly inner: string
}

export interface ScriptCommand {
  readonly words: readonly ScriptWord[]
  /** The words as they are written: expansions as such, the rest without quotes. */
  readonly written: readonly { readonly text: string; readonly dynamic: boolean }[]
  readonly environment: readonly string[]
  readonly redirects: readonly { readonly operator: string; readonly target: ScriptWord }[]
  readonly cwd: string | undefined
  /** Texts that it is given on stdin. */
  readonly texts: readonly string[]
  /** The source of the commands whose output it reads from a pipe; empty where there is none. */
  readonly fedBy: string
}

export interface ScriptParts {
  readonly commands: readonly ScriptCommand[]
  readonly functions: readonly string[]
  readonly variables: ReadonlyMap<string, readonly string[]>
  /** Not all of its text was understood. */
  readonly hides: boolean
}

/** Characters of a script that is parsed, and characters times substitutions: parsing those takes time that grows with both. */
const MAX_PARSED = 20_000
const MAX_WORK = 2_000_000
const OPENERS = /\$[({]|`|[<>(]\(/g

export const isParsable = (script: string, longest = MAX_PARSED): boolean =>
  script.length <= longest && script.length * (script.match(OPENERS)?.length ?? 0) <= MAX_WORK

const UNKNOWN = '…'
const NOTHING: ScriptParts = { commands: [], functions: [], variables: new Map(), hides: true }

/** @param given values of variables from around it, for scripts in scripts */
export function scriptParts(script: string, place: WorkingFolder, given: ReadonlyMap<string, readonly string[]> = new Map()): ScriptParts {
  if (!isParsable(script)) return NOTHING
  const reader = createReader(script, place, given)
  try {
    const parsed = parse(script)
    reader.visit(parsed, '')
    return { ...reader.parts(), hides: parsed.errors !== undefined || reader.seen() < (script.match(/\$\(|`|[<>]\(/g)?.length ?? 0) }
  } catch (error) {
    // The stack is all that a script can exhaust.
    if (!(error instanceof RangeError)) throw error
    return { ...reader.parts(), hides: true }
  }
}

function createReader(script: string, place: WorkingFolder, given: ReadonlyMap<string, readonly string[]>) {
  const commands: ScriptCommand[] = []
  const functions: string[] = []
  const variables = new Map<string, readonly string[]>(given)
  let cwd = place.cwd
  let seen = 0
  let source = script

  const slice = ({ pos, end }: { readonly pos: number; readonly end: number }): string => source.slice(pos, end)

  /** What an expansion comes to, where the text tells: `$HOME`, a constant, a default. */
  function expanded(part: WordPart | { readonly type: string; readonly text?: string }): string {
    const text = part.text ?? ''
    const name = /^\$\{?(\w+|[@*])/.exec(text)?.[1] ?? ''
    const value = name === 'HOME' ? place.home : name === 'PWD' ? cwd : name === 'IFS' ? ' ' : variables.get(name)?.join(' ')
    const fallback = /^\$\{\w+:?[-=](.*)\}$/s.exec(text)?.[1]
    if (/^\$\{\w+:?\?/.test(text)) return value ?? UNKNOWN
    if (fallback !== undefined) return value ?? fallback.replace(/["']/g, '')
    return value ?? (/^\$\{?[a-zA-Z_]+\}?$/.test(text) && !variables.has(name) && !GIVEN.test(name) ? '' : UNKNOWN)
  }

  /** `$(pwd)`, `$(echo rm)`: what a substitution prints, where that is plain. */
  function printed(text: string): string {
    const inside = text.replace(/^\$\(|^`|\)$|`$/g, '').trim()
    if (/^(?:pwd|realpath \.|readlink -f \.)$/.test(inside)) return cwd ?? UNKNOWN
    if (/^git rev-parse --show-toplevel$/.test(inside)) return place.workspace
    if (/^dirname "?\$PWD"?$/.test(inside)) return `${cwd}/..`
    return /^echo ([\w./ -]+)$/.exec(inside)?.[1] ?? UNKNOWN
  }

  function word({ text, value, parts }: Word): ScriptWord {
    if (parts === undefined) return { text: home(value, text), dynamic: false, inner: '' }
    let [dynamic, inner] = [false, '']
    const read = (part: WordPart | { readonly type: string }): string => {
      const one = part as WordPart
      switch (one.type) {
        case 'Literal':
        case 'SingleQuoted':
        case 'AnsiCQuoted':
          return one.value
        case 'DoubleQuoted':
        case 'LocaleString':
          return one.parts.map(read).join('')
        case 'Glob':
        case 'BraceExpansion':
        case 'ExtendedGlob':
          dynamic = true
          return one.text
        case 'SimpleExpansion':
        case 'ParameterExpansion':
          dynamic = true
          return expanded(one)
        default:
          dynamic = true
          inner += ` ${one.text}`
          return one.type === 'CommandExpansion' ? printed(one.text) : UNKNOWN
      }
    }
    const joined = parts.map(read).join('')
    return { text: home(joined, text), dynamic, inner }
  }

  const home = (value: string, text: string): string =>
    /^~(?:root|user)?(?:\/|$)/.test(text) ? value.replace(/^~\w*/, text.startsWith('~root') ? '/root' : place.home) : value

  /** Nothing that is done in a process of its own moves those after it. */
  function apart(node: SyntaxNode, fedBy: string): void {
    const before = cwd
    visit(node, fedBy)
    cwd = before
  }

  function set(name: string, value: readonly string[], append?: boolean): void {
    const old = variables.get(name) ?? []
    if (value.join('').length + old.join('').length > MAX_VALUE) return
    variables.set(name, append ? [old.join(' ') + value.join(' ')] : value)
  }

  function visit(node: SyntaxNode, fedBy: string): void {
    if (node.type === 'Pipeline' && node.commands.length > 1) {
      let before = fedBy
      for (const one of node.commands) {
        apart(one, before)
        before = `${before}${slice(one)} | `.slice(-MAX_FED)
      }
    } else if (node.type === 'Subshell' || node.type === 'Function') {
      if (node.type === 'Function') functions.push(node.name.value)
      apart(node.body, fedBy)
    } else if ('script' in node) {
      seen += node.text.startsWith('`') ? 2 : 1
      const outer = source
      source = node.script?.source ?? source
      if (node.script) apart(node.script, '')
      source = outer
    } else {
      if (node.type === 'ArithmeticExpansion') seen++
      if (node.type === 'For' || node.type === 'Select') set(node.name.value, texts((node.wordlist ?? []).map(word)))
      if (node.type === 'Assignment') {
        const { value, name, append } = node
        set(name, texts((value.type === 'ArrayValue' ? value.elements : [value]).map(word)), append)
      }
      const fed =
        node.type === 'Redirected'
          ? fedBy +
            inputs(node.redirects)
              .map((text) => `echo ${text} |`)
              .join('')
          : fedBy
      forEachChild(node, (child) => visit(child, node.type === 'Command' ? '' : fed))
      if (node.type === 'Redirected') command([], [], node.redirects, fedBy)
      if (node.type === 'Command') command(node.name ? [node.name, ...node.args] : [], node.prefix, node.redirects, fedBy)
    }
  }

  /** What here-documents and here-strings hold. */
  const inputs = (redirects: readonly SyntaxNode[]): string[] =>
    redirects.flatMap((one) => {
      if (one.type === 'HereDoc') return [one.body.text]
      return one.type === 'HereString' && one.target ? [word(one.target).text] : []
    })

  function command(args: readonly SyntaxNode[], prefix: readonly SyntaxNode[], redirections: readonly SyntaxNode[], fedBy: string): void {
    const words = args.flatMap((one) => (one.type === 'Word' ? split(word(one), one) : [{ text: slice(one), dynamic: true, inner: '' }]))
    const redirects = redirections.flatMap((one) =>
      one.type === 'Redirect' && one.target ? [{ operator: one.operator, target: word(one.target) }] : [],
    )
    const environment = prefix.flatMap((one) => (one.type === 'Assignment' ? [slice(one)] : []))
    if (words.length + redirects.length + environment.length === 0) return
    const written = args.map((one) => {
      const read = one.type === 'Word' ? word(one) : undefined
      return read && !read.dynamic ? read : { text: slice(one), dynamic: true }
    })
    commands.push({ words, written, environment, redirects, cwd, texts: inputs(redirections), fedBy })
    const [name, ...rest] = words
    if (name && (name.text === 'set' || functions.includes(name.text))) set('@', texts(rest.filter(({ text }) => text !== '--')))
    if (/^(?:cd|pushd)$/.test(name?.text ?? '')) {
      const to = rest.find(({ text }) => !text.startsWith('-'))
      cwd = to === undefined ? place.home : to.text.includes(UNKNOWN) ? undefined : absolute(to.text, { cwd })
    }
  }

  /** An unquoted expansion makes several words of a value with blanks; `{a,b}` one for each. */
  function split(one: ScriptWord, { text }: Word): ScriptWord[] {
    const [, before = '', list, after = ''] = /^([^{}"'`$]*)\{([^{}]*,[^{}]*)\}([^{}]*)$/.exec(text) ?? []
    if (list !== undefined && list.length < 2000) return list.split(',').map((item) => ({ ...one, text: before + item + after }))
    const several = one.dynamic && (!/^"/.test(text) || /^"\$(?:@|\{\w+\[@\]\})"$/.test(text)) && !one.text.includes(UNKNOWN)
    if (!several || one.text.length > MAX_VALUE) return [one]
    const items = one.text.trim().split(/\s+/)
    return items.map((item) => ({ ...one, text: item }))
  }

  return { visit, seen: () => seen, parts: () => ({ commands, functions, variables }) }
}

const texts = (words: readonly ScriptWord[]): string[] => words.map(({ text }) => text)
const MAX_VALUE = 2000
/** Characters of what stands before a pipe. */
const MAX_FED = 500
/** Set by the shell or its surroundings, so never empty. */
const GIVEN = /^(?:USER|LOGNAME|HOSTNAME|SHELL|PATH|LANG|TERM|TMPDIR|OLDPWD|E?UID|PPID|RANDOM|SECONDS)$/
