/**
 * Lists the simple commands of a script, however deeply nested, with their words as far as the text determines them. The result is used to
 * label, to display and to tighten rules, never to allow anything. Pure.
 */
import { forEachChild, parse, type SyntaxNode, type Word, type WordPart } from 'unbash'
import { absolute, type WorkingFolder } from './paths.ts'

interface ScriptWord {
  /** The word without quotes. An expansion that the text does not determine is `…`. */
  readonly text: string
  /** The value is only known at run time. */
  readonly dynamic: boolean
  /** Source text of the substitutions in the word. */
  readonly inner: string
}

export interface ScriptCommand {
  readonly words: readonly ScriptWord[]
  /** The words as written: expansions unchanged, the rest without quotes. */
  readonly written: readonly { readonly text: string; readonly dynamic: boolean }[]
  readonly environment: readonly string[]
  readonly redirects: readonly { readonly operator: string; readonly target: ScriptWord }[]
  readonly cwd: string | undefined
  /** Text given to it on stdin. */
  readonly texts: readonly string[]
  /** Source of the commands piped into it; empty if there are none. */
  readonly fedBy: string
}

export type Variables = ReadonlyMap<string, readonly string[]>

/** Maximum length in characters, and maximum of characters times substitutions, because parsing time grows with both. */
const MAX_PARSED = 20_000
const MAX_WORK = 2_000_000
const OPENERS = /\$[({]|`|[<>(]\(/g

export const isParsable = (script: string, longest = MAX_PARSED): boolean =>
  script.length <= longest && script.length * (script.match(OPENERS)?.length ?? 0) <= MAX_WORK

const UNKNOWN = '…'
const MAX_VALUE = 2000
/** Maximum characters kept of what comes before a pipe. */
const MAX_FED = 500
/** Variables set by the shell or its environment, so never empty. */
const GIVEN = /^(?:USER|LOGNAME|HOSTNAME|SHELL|PATH|LANG|TERM|TMPDIR|OLDPWD|E?UID|PPID|RANDOM|SECONDS)$/

const texts = (words: readonly ScriptWord[]): string[] => words.map(({ text }) => text)

/**
 * Lists the commands, functions and variables of a script.
 *
 * @param given values of variables from the enclosing script, for nested scripts
 * @returns the parts, with `hides` true if some of the text was not understood
 */
export function scriptParts(script: string, place: WorkingFolder, given: Variables = new Map()) {
  const commands: ScriptCommand[] = []
  const functions: string[] = []
  const variables = new Map(given)
  const parts = (hides: boolean) => ({ commands, functions, variables: variables as Variables, hides })
  if (!isParsable(script)) return { ...parts(true), variables: new Map() as Variables }
  let cwd = place.cwd
  let seen = 0
  let source = script
  try {
    const parsed = parse(script)
    visit(parsed, '')
    return parts(parsed.errors !== undefined || seen < (script.match(/\$\(|`|[<>]\(/g)?.length ?? 0))
  } catch (error) {
    // Only the stack can be exhausted by a script.
    if (!(error instanceof RangeError)) throw error
    return parts(true)
  }

  /** Returns the value of an expansion if the text determines it: `$HOME`, a constant, a default. */
  function expanded(text: string): string {
    const name = /^\$\{?(\w+|[@*])/.exec(text)?.[1] ?? ''
    const value = name === 'HOME' ? place.home : name === 'PWD' ? cwd : name === 'IFS' ? ' ' : variables.get(name)?.join(' ')
    if (value !== undefined || /^\$\{\w+:?\?/.test(text)) return value ?? UNKNOWN
    const fallback = /^\$\{\w+:?[-=](.*)\}$/s.exec(text)?.[1]
    if (fallback !== undefined) return fallback.replace(/["']/g, '')
    return /^\$\{?[a-zA-Z_]+\}?$/.test(text) && !variables.has(name) && !GIVEN.test(name) ? '' : UNKNOWN
  }

  /** Returns what a substitution prints if that is obvious, as for `$(pwd)` or `$(echo rm)`. */
  function printed(text: string): string {
    const inside = text.replace(/^\$\(|^`|\)$|`$/g, '').trim()
    if (/^(?:pwd|realpath \.|readlink -f \.)$/.test(inside)) return cwd ?? UNKNOWN
    if (/^git rev-parse --show-toplevel$/.test(inside)) return place.workspace
    if (/^dirname "?\$PWD"?$/.test(inside)) return `${cwd}/..`
    return /^echo ([\w./ -]+)$/.exec(inside)?.[1] ?? UNKNOWN
  }

  function word({ text, value, parts }: Word): ScriptWord {
    let [dynamic, inner] = [false, '']
    const read = (part: WordPart | { readonly type: string }): string => {
      const one = part as WordPart
      if (one.type === 'Literal' || one.type === 'SingleQuoted' || one.type === 'AnsiCQuoted') return one.value
      if (one.type === 'DoubleQuoted' || one.type === 'LocaleString') return one.parts.map(read).join('')
      dynamic = true
      if (one.type === 'Glob' || one.type === 'BraceExpansion' || one.type === 'ExtendedGlob') return one.text
      if (one.type === 'SimpleExpansion' || one.type === 'ParameterExpansion') return expanded(one.text)
      inner += ` ${one.text}`
      return one.type === 'CommandExpansion' ? printed(one.text) : UNKNOWN
    }
    const joined = parts?.map(read).join('') ?? value
    const isHome = /^~(?:root|user)?(?:\/|$)/.test(text)
    return { text: isHome ? joined.replace(/^~\w*/, text.startsWith('~root') ? '/root' : place.home) : joined, dynamic, inner }
  }

  function slice({ pos, end }: { readonly pos: number; readonly end: number }): string {
    return source.slice(pos, end)
  }

  /** Visits a node that runs in its own process, so that a `cd` in it does not affect later commands. */
  function apart(node: SyntaxNode, fedBy: string): void {
    const before = cwd
    visit(node, fedBy)
    cwd = before
  }

  function set(name: string, value: readonly string[], append?: boolean): void {
    const old = variables.get(name) ?? []
    if (value.join('').length + old.join('').length <= MAX_VALUE) variables.set(name, append ? [old.join(' ') + value.join(' ')] : value)
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

  /** Returns the contents of here-documents and here-strings. */
  function inputs(redirects: readonly SyntaxNode[]): string[] {
    return redirects.flatMap((one) => {
      if (one.type === 'HereDoc') return [one.body.text]
      return one.type === 'HereString' && one.target ? [word(one.target).text] : []
    })
  }

  function command(args: readonly SyntaxNode[], prefix: readonly SyntaxNode[], redirections: readonly SyntaxNode[], fedBy: string): void {
    const asWritten = (one: SyntaxNode) => ({ text: slice(one), dynamic: true, inner: '' })
    const words = args.flatMap((one) => (one.type === 'Word' ? split(word(one), one) : [asWritten(one)]))
    const redirects = redirections.flatMap((one) =>
      one.type === 'Redirect' && one.target ? [{ operator: one.operator, target: word(one.target) }] : [],
    )
    const environment = prefix.filter(({ type }) => type === 'Assignment').map(slice)
    if (words.length + redirects.length + environment.length === 0) return
    const written = args.map((one) => {
      const read = one.type === 'Word' ? word(one) : undefined
      return read && !read.dynamic ? read : asWritten(one)
    })
    commands.push({ words, written, environment, redirects, cwd, texts: inputs(redirections), fedBy })
    const [name, ...rest] = words
    if (name && (name.text === 'set' || functions.includes(name.text))) set('@', texts(rest.filter(({ text }) => text !== '--')))
    if (!/^(?:cd|pushd)$/.test(name?.text ?? '')) return
    const to = rest.find(({ text }) => !text.startsWith('-'))?.text
    cwd = to === undefined ? place.home : to.includes(UNKNOWN) ? undefined : absolute(to, { cwd })
  }
}

/** Splits a word as the shell does: an unquoted expansion at blanks, `{a,b}` into its alternatives. */
function split(one: ScriptWord, { text }: Word): ScriptWord[] {
  const [, before = '', list, after = ''] = /^([^{}"'`$]*)\{([^{}]*,[^{}]*)\}([^{}]*)$/.exec(text) ?? []
  if (list !== undefined && list.length < 2000) return list.split(',').map((item) => ({ ...one, text: before + item + after }))
  const several = one.dynamic && (!/^"/.test(text) || /^"\$(?:@|\{\w+\[@\]\})"$/.test(text)) && !one.text.includes(UNKNOWN)
  if (!several || one.text.length > MAX_VALUE) return [one]
  return one.text
    .trim()
    .split(/\s+/)
    .map((item) => ({ ...one, text: item }))
}
