/** What is said of a command before it runs. */
export type Verdict = 'safe' | 'ask' | 'deny'

export interface Finding {
  readonly verdict: Verdict
  readonly reason: string
}

export interface Redirection {
  readonly operator: string
  readonly target: string
  /** Whether it can change a file. */
  readonly writes: boolean
}

/** Of a command, what it comes to without what is put before it. */
export interface Form {
  /** The base name of the program, and its arguments. */
  readonly text: string
  /** As the text has it; a `pattern` of the shell; `late`: known only when it runs. */
  readonly program: 'known' | 'pattern' | 'late'
}

export interface SimpleCommand extends Finding {
  /** The program that runs in the end, past `sudo`, `env`, `xargs` and the like; undefined where it is only known when it runs. */
  readonly name: string | undefined
  readonly words: readonly { readonly text: string; readonly dynamic: boolean }[]
  readonly redirects: readonly Redirection[]
  /** The command in one spelling: the target that rules are matched with. */
  readonly text: string
  /** The paths it names, absolute where that is known. */
  readonly paths: readonly string[]
  /** The same for the same command on the same paths, however it is quoted, spaced or joined with others. */
  readonly key: string
  /** What it comes to without what stands before it: what rules against a command are held to. */
  readonly forms: readonly Form[]
  /** Where it runs, absolute; undefined where that is known only when it runs. */
  readonly cwd: string | undefined
}

export interface SyntaxProblem {
  readonly message: string
  /** From 1. */
  readonly line: number
  /** From 1. */
  readonly column: number
  /** The script with what is missing added; only where it parses then. */
  readonly fixed?: string
}

export interface Judged extends Finding {
  readonly commands: readonly SimpleCommand[]
  /** What is said of the script and of none of its commands, where that is a reason to ask. */
  readonly whole?: Finding
  readonly syntaxError?: SyntaxProblem
}

/** Absolute paths. */
export interface Place {
  readonly cwd: string | undefined
  readonly workspace: string
  readonly home: string
}

export const safe = (reason = 'it only reads'): Finding => ({ verdict: 'safe', reason })
export const ask = (reason: string): Finding => ({ verdict: 'ask', reason })
export const deny = (reason: string): Finding => ({ verdict: 'deny', reason })

const RANK: Record<Verdict, number> = { safe: 0, ask: 1, deny: 2 }

/** The strictest; of equals the first. */
export const strictest = (findings: readonly Finding[]): Finding =>
  findings.reduce((worst, one) => (RANK[one.verdict] > RANK[worst.verdict] ? one : worst), findings[0] ?? safe())
