/** Where a script's syntax breaks off, and what it lacks. */
import { parse } from 'unbash'
import { isParsable } from '../command-policy/script.ts'

export interface SyntaxProblem {
  readonly message: string
  /** From 1. */
  readonly line: number
  /** From 1. */
  readonly column: number
  /** The script with what is missing added; only where it parses then. */
  readonly fixed?: string
}

/** Of scripts longer than this nothing is repaired. */
const MOST = 10_000

export function syntaxProblem(script: string): SyntaxProblem | undefined {
  const [first] = isParsable(script) ? (parse(script).errors ?? []) : []
  if (first === undefined) return undefined
  const before = script.slice(0, first.pos).split('\n')
  const fixed = script.length > MOST ? undefined : repairs(script, first.message).find(parses)
  return { message: first.message, line: before.length, column: (before.at(-1)?.length ?? 0) + 1, ...(fixed !== undefined && { fixed }) }
}

const parses = (script: string): boolean => !parse(script).errors?.length

const CLOSERS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/double quote/, ['"']],
  [/single quote/, ["'"]],
  [/backtick/, ['`']],
  [/command substitution/, [')', '")']],
  [/parameter expansion/, ['}', '}"']],
  [/arithmetic/, ['))']],
  [/'fi'/, ['; fi', '\nfi']],
  [/'done'/, ['; done', '\ndone']],
  [/'esac'/, ['; esac', '\nesac', ';; esac']],
  [/'\}'|brace group/, ['; }', '\n}']],
  [/'\)'|subshell/, [')']],
]

/** Scripts that may be what was meant, likeliest first. */
function repairs(script: string, message: string): string[] {
  const trimmed = script.trimEnd()
  const added = CLOSERS.filter(([pattern]) => pattern.test(message)).flatMap(([, closers]) =>
    closers.map((closer) => withCloser(trimmed, closer)),
  )
  const twice = added.flatMap((one) =>
    CLOSERS.filter(([pattern]) => pattern.test(parse(one).errors?.[0]?.message ?? '')).flatMap(([, closers]) =>
      closers.map((closer) => withCloser(one, closer)),
    ),
  )
  const cut = /^([\s\S]*?)\s*(?:&&|\|\||\|&?)$/.exec(trimmed)?.[1]
  return [...added, ...(cut ? [cut] : []), ...twice]
}

/** `; fi` after `;` is `fi`. */
const withCloser = (script: string, closer: string): string =>
  /[;&\n]$/.test(script) ? `${script}${closer.replace(/^;(?!;)/, '')}` : `${script}${closer}`
