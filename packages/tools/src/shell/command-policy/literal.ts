/**
 * Splits a script that is literal throughout into its simple commands. It is no parser of bash: whatever is not a plain word, a
 * quoted text without expansions, or one of a few operators makes it give up, so that nothing can be hidden from what decides on the
 * words. Pure, one pass.
 */

export interface Redirect {
  /** `>`, `>>`, `2>` or `2>>`; `2>&` before the number of a descriptor. */
  readonly operator: string
  readonly target: string
}

export interface LiteralCommand {
  readonly argv: readonly string[]
  readonly redirects: readonly Redirect[]
  /** The operator before it: `''` for the first one. */
  readonly after: '' | ';' | '&&' | '||' | '|'
}

/** Characters of an unquoted word that mean nothing to any shell. Letters beyond ASCII too, but nothing that is a blank or unseen. */
const PLAIN = /^[\w@%+=:,./^\u{a1}-\u{10ffff}-]$/u
/** Blanks other than the space, controls, and characters that show nothing. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{DI}]|(?! )\p{Zs}/u
const OPERATORS = ['&&', '||', ';', '|'] as const
/** Characters: nobody can see what is longer at a glance. */
const MAX_LITERAL = 20_000
/** What begins a construct, or changes what follows, where a command may begin. */
const RESERVED = new Set('if then elif else fi case esac for select while until do done in function time coproc { } ! [[ ]]'.split(' '))
const ASSIGNMENT = /^\w+\+?=/

/** @returns undefined for a script that is not literal throughout, or has nothing in it */
export function literalCommands(script: string): readonly LiteralCommand[] | undefined {
  if (script.length > MAX_LITERAL || UNSEEN.test(script.replace(/[\n\t]/g, ''))) return undefined
  const text = script
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n')
  const commands: LiteralCommand[] = []
  let command = { argv: [] as string[], redirects: [] as Redirect[], after: '' as LiteralCommand['after'] }
  let operator: string | undefined
  for (let at = 0; at < text.length; ) {
    const rest = text[at] as string
    const separator = rest === '\n' ? ';' : OPERATORS.find((one) => text.startsWith(one, at))
    if (rest === ' ' || rest === '\t') at++
    else if (separator !== undefined) {
      if (command.argv.length === 0 || operator !== undefined) return undefined
      commands.push(command)
      command = { argv: [], redirects: [], after: separator }
      at += rest === '\n' ? 1 : separator.length
    } else if (operator === undefined && /^\d?>/.test(text.slice(at, at + 2))) {
      operator = /^\d?>(?:>|&(?=\d(?:[\s;|]|$)))?/.exec(text.slice(at, at + 5))?.[0] as string
      at += operator.length
    } else {
      const word = literalWord(text, at)
      if (word === undefined) return undefined
      if (operator === undefined) {
        if (command.argv.length === 0 && (RESERVED.has(word.raw) || ASSIGNMENT.test(word.raw) || word.value === '')) return undefined
        command.argv.push(word.value)
      } else command.redirects.push({ operator, target: word.value })
      operator = undefined
      at = word.end
    }
  }
  if (command.argv.length === 0 || operator !== undefined) return undefined
  return [...commands, command]
}

interface LiteralWord {
  readonly value: string
  readonly raw: string
  readonly end: number
}

function literalWord(text: string, start: number): LiteralWord | undefined {
  let value = ''
  let at = start
  while (at < text.length && !/[ \t\n;|&>]/.test(text[at] as string)) {
    const quote = text[at]
    if (quote === "'" || quote === '"') {
      const close = text.indexOf(quote, at + 1)
      const inside = close === -1 ? '\n' : text.slice(at + 1, close)
      if (/[\n\t]/.test(inside) || (quote === '"' && /[$`\\!]/.test(inside))) return undefined
      value += inside
      at = close + 1
    } else {
      const character = String.fromCodePoint(text.codePointAt(at) as number)
      if (!PLAIN.test(character)) return undefined
      value += character
      at += character.length
    }
  }
  // `a&b` and `a>b`: only what stands alone is an operator here.
  return /[&>]/.test(text[at] ?? '') && !text.startsWith('&&', at) ? undefined : { value, raw: text.slice(start, at), end: at }
}
