/** Which rule stands for a shell command that was allowed: this very one, or all that begin as it does. */

/** What of a simple command counts here; the judge of the shell tools says it. */
export interface ParsedCommand {
  /** The program that runs in the end; undefined where it is only known when it runs. */
  readonly name: string | undefined
  readonly words: readonly { readonly text: string; readonly dynamic: boolean }[]
  readonly redirects: readonly { readonly writes: boolean }[]
  readonly text: string
  /** `safe`: it is not why the script asks. */
  readonly verdict: 'safe' | 'ask' | 'deny'
}

const RUNNERS: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  ['npm', 'pnpm', 'yarn', 'bun'].map((name) => [name, ['test', 'ci', 'run *']]),
)

/**
 * Programs whose further arguments change what they work on, not what is run; with the subcommands of which that is true. What is
 * not here (interpreters, `sudo`, `rm`, `curl`, `git push`, …) may be allowed as it stands, and never by its beginning.
 */
const PREFIXES: Readonly<Record<string, readonly string[]>> = {
  ...RUNNERS,
  git: ['add', 'branch', 'checkout', 'commit', 'mv', 'restore', 'stash', 'switch', 'tag'],
  cargo: ['build', 'check', 'clippy', 'fmt', 'test'],
  go: ['build', 'fmt', 'test', 'vet'],
  dotnet: ['build', 'test'],
  mix: ['compile', 'test'],
  ...Object.fromEntries(
    ['biome', 'black', 'eslint', 'jest', 'mkdir', 'mypy', 'prettier', 'pytest', 'ruff', 'touch', 'tsc', 'vitest'].map((name) => [name, []]),
  ),
}

/** `npm test *` for `npm test --watch`. `undefined` where only the command as it stands may be allowed. */
export function prefixOf({ name, words, redirects, text }: ParsedCommand): string | undefined {
  const subcommands = name !== undefined && Object.hasOwn(PREFIXES, name) ? PREFIXES[name] : undefined
  if (!subcommands || words[0]?.text !== name || redirects.some(({ writes }) => writes)) return undefined
  const [, second = '', third = ''] = words.map((word) => (word.dynamic ? '' : word.text))
  const rule = subcommands.find((one) => one.replace(/ \*$/, '') === second)
  if (subcommands.length > 0 && rule === undefined) return undefined
  const parts = subcommands.length === 0 ? [name] : rule?.endsWith(' *') ? [name, second, third] : [name, second]
  const beginning = parts.join(' ')
  // What stands before it, such as a variable that is set, is a part of the command too.
  const isPlain = parts.every((part) => /^\w[\w:./@+-]*$/.test(part ?? '')) && `${text} `.startsWith(`${beginning} `)
  return isPlain ? `${beginning} *` : undefined
}

/** Its text says all that it does, and it is why the script asks. */
export const standsAlone = ({ name, words, verdict }: ParsedCommand): boolean =>
  name !== undefined && words.every(({ dynamic }) => !dynamic) && verdict !== 'safe'
