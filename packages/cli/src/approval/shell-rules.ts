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

/** A beginning, and after what any further arguments are harmless. */
interface Beginning {
  readonly words: RegExp
  readonly before: '' | '-- '
}

/**
 * What is not here (interpreters, `rm`, `curl`, `git push`, `git checkout`, …) may be allowed as it stands, and never by its
 * beginning. Of programs whose own options name programs, settings or other folders, only what they hand on unread is free.
 */
const BEGINNINGS: readonly Beginning[] = [
  { words: /^(?:npm|pnpm|yarn|bun) test(?= |$)/, before: '-- ' },
  { words: /^(?:npm|pnpm|yarn|bun) run \w[\w:./@+-]*(?= |$)/, before: '-- ' },
  { words: /^cargo test(?= |$)/, before: '-- ' },
  { words: /^git (?:add|commit)(?= |$)/, before: '' },
  { words: /^(?:mkdir|touch)(?= |$)/, before: '' },
]

/** `npm test` and `npm test -- *` for `npm test`. `undefined` where only the command as it stands may be allowed. */
export function prefixOf({ name, words, redirects, text }: ParsedCommand): readonly string[] | undefined {
  if (words[0]?.text !== name || redirects.some(({ writes }) => writes)) return undefined
  for (const { words: beginning, before } of BEGINNINGS) {
    // What stands before it, such as a variable that is set, is a part of the command too.
    const begins = beginning.exec(text)?.[0]
    if (begins === undefined) continue
    if (before === '') return [`${begins} *`]
    return text === begins || `${text} `.startsWith(`${begins} ${before}`) ? [begins, `${begins} ${before}*`] : undefined
  }
  return undefined
}

/** Its text says all that it does, and it is why the script asks. */
export const standsAlone = ({ name, words, verdict }: ParsedCommand): boolean =>
  name !== undefined && words.every(({ dynamic }) => !dynamic) && verdict !== 'safe'
