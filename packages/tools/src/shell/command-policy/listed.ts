/**
 * Lists the commands that run without approval: programs that only read, and for each the options known neither to write nor to run
 * anything. Everything else needs approval.
 */

interface Listed {
  /** Single-letter options without a value. */
  readonly flags?: string
  /** Single-letter options with a value, given in the rest of the word or in the next one, and the pattern it must match. */
  readonly values?: Readonly<Record<string, RegExp>>
  /** Long options. Those ending in `=` take a value. */
  readonly long?: string
  /** What the operands are. Default: paths. With `pattern`, the first operand is a pattern and the others are paths. */
  readonly operands?: 'paths' | 'text' | 'none' | 'pattern'
  /** Pattern for operands that are not paths. */
  readonly like?: RegExp
  /** When the program reads files that are not named, possibly including key files. It may then print only names and counts. */
  readonly deep?: 'with -r' | 'always'
}

const NUMBER = /^[-+]?\d{1,12}[bkKMG]?$/
const TEXT = /^/
const COUNT: Listed = { flags: 'qvz', values: { n: NUMBER, c: NUMBER }, long: 'lines= bytes= quiet verbose' }
const SUM: Listed = { flags: 'btz', long: 'binary text tag zero' }
const GREP_VALUES = { e: TEXT, A: NUMBER, B: NUMBER, C: NUMBER, m: NUMBER }
const NAMES_ONLY = /^(?:[lLcq]|files-with-matches|files-without-match|count|quiet)$/

const LISTED: Readonly<Record<string, Listed>> = {
  true: { operands: 'none' },
  pwd: { flags: 'LP', operands: 'none' },
  uname: { flags: 'asnrvmpio', operands: 'none' },
  id: { flags: 'ugGnr', operands: 'none' },
  echo: { flags: 'neE', operands: 'text' },
  basename: { flags: 'az', values: { s: TEXT }, operands: 'text' },
  dirname: { flags: 'z', operands: 'text' },
  date: { flags: 'uR', long: 'utc', operands: 'text', like: /^\+/ },
  which: { flags: 'a', operands: 'text', like: /^[\w.+-]+$/ },
  ls: {
    flags: 'aAbBcCdfFghHiklLmnNopqQrRsStuUvxX1',
    long: 'all almost-all human-readable reverse recursive size directory inode classify group-directories-first color=never',
  },
  cat: { flags: 'AbeEnstTuv', long: 'number number-nonblank show-all show-ends show-tabs squeeze-blank' },
  head: COUNT,
  tail: COUNT,
  wc: { flags: 'clmwL', long: 'lines words bytes chars max-line-length' },
  cut: { flags: 's', values: { d: TEXT, f: /^[\d,-]+$/, c: /^[\d,-]+$/ } },
  sort: { flags: 'bdfhinMrRuV', values: { k: /^[\d.,bdfghinMrRV]+$/, t: TEXT }, long: 'unique reverse numeric-sort human-numeric-sort' },
  diff: { flags: 'qsuUwbBiN', long: 'brief unified ignore-all-space ignore-blank-lines' },
  file: { flags: 'bhi', long: 'brief mime mime-type mime-encoding' },
  stat: { flags: 'Lft', values: { c: TEXT }, long: 'format= printf= terse' },
  du: { flags: 'abchHkmsS', values: { d: NUMBER }, long: 'all bytes human-readable summarize total max-depth=' },
  tree: { flags: 'adfhinpsuDF', values: { L: NUMBER, I: TEXT, P: TEXT }, long: 'dirsfirst noreport' },
  realpath: { flags: 'emsz' },
  readlink: { flags: 'efmnqsz' },
  sha256sum: SUM,
  grep: {
    flags: 'EFGHPTZabchiLlnoqrsvwxyz',
    values: GREP_VALUES,
    long: 'include= exclude= exclude-dir= ignore-case line-number recursive count files-with-matches files-without-match fixed-strings extended-regexp word-regexp only-matching invert-match quiet no-messages with-filename no-filename max-count= context= color=never',
    operands: 'pattern',
    deep: 'with -r',
  },
  rg: {
    flags: 'FHINPSchilnopqsvwx',
    values: { ...GREP_VALUES, g: TEXT, t: /^\w+$/, T: /^\w+$/ },
    long: 'files-with-matches count fixed-strings ignore-case smart-case line-number no-line-number no-heading word-regexp only-matching quiet glob= type= max-count= context= color=never',
    operands: 'pattern',
    deep: 'always',
  },
}

/**
 * Returns the paths that a listed command reads.
 *
 * @returns undefined if the command is not listed
 */
export function listedPaths([program = '', ...args]: readonly string[]): readonly string[] | undefined {
  const listed = Object.hasOwn(LISTED, program) ? LISTED[program] : undefined
  const read = listed && operandsOf(listed, args)
  if (!listed || !read) return undefined
  const { operands, options } = read
  const isDeep = listed.deep === 'always' || (listed.deep !== undefined && options.some((one) => /^(?:r|recursive)$/.test(one)))
  if (isDeep && !options.some((one) => NAMES_ONLY.test(one))) return undefined
  const kind = listed.operands ?? 'paths'
  if (kind === 'none') return operands.length === 0 ? [] : undefined
  if (kind === 'text') return operands.every((word) => (listed.like ?? TEXT).test(word)) ? [] : undefined
  const paths = kind === 'pattern' && !options.includes('e') ? operands.slice(1) : operands
  return paths.every((path) => path !== '' && path !== '-') ? paths : undefined
}

/** Splits arguments into operands and options. Undefined if an option is unknown. */
function operandsOf({ flags = '', values = {}, long = '' }: Listed, args: readonly string[]) {
  const known = new Set(long.split(' ').filter((name) => name !== ''))
  const operands: string[] = []
  const options: string[] = []
  for (let at = 0; at < args.length; at++) {
    const word = args[at] as string
    if (word === '--') return { operands: [...operands, ...args.slice(at + 1)], options }
    if (/^-\d+$/.test(word) && Object.hasOwn(values, 'n')) continue
    if (!word.startsWith('-') || word === '-') operands.push(word)
    else if (word.startsWith('--')) {
      const [name = ''] = word.slice(2).split('=', 1)
      options.push(name)
      if (!known.has(word.slice(2)) && !(word.includes('=') && known.has(`${name}=`))) return undefined
    } else
      for (let letter = 1; letter < word.length; letter++) {
        const one = word[letter] as string
        options.push(one)
        const like = Object.hasOwn(values, one) ? values[one] : undefined
        if (like) {
          const value = letter + 1 < word.length ? word.slice(letter + 1) : args[++at]
          if (value === undefined || !like.test(value)) return undefined
          break
        }
        if (!flags.includes(one)) return undefined
      }
  }
  return { operands, options }
}

export interface Redirect {
  /** `>`, `>>`, `2>`, `2>>`, or `2>&` before a descriptor number. */
  readonly operator: string
  readonly target: string
}

export interface LiteralCommand {
  readonly argv: readonly string[]
  readonly redirects: readonly Redirect[]
  /** The operator before the command; `''` for the first one. */
  readonly after: '' | ';' | '&&' | '||' | '|'
}

/**
 * Characters that have no special meaning in an unquoted word in any shell. Includes non-ASCII letters, but no blank or invisible
 * characters.
 */
const PLAIN = String.raw`[\w@%+=:,./^\u{a1}-\u{10ffff}-]`
/** A word must end at a blank or an operator, so `a&b` and `a>b` are not words. */
const WORD = String.raw`(?<word>(?:'[^'\n\t]*'|"[^"\n\t$\x60\\!]*"|${PLAIN})+)(?=[ \t\n;|]|&&|$)`
const REDIRECT = String.raw`(?<redirect>\d?>(?:>|&(?=\d(?:[\s;|]|$)))?)`
const TOKEN = new RegExp(String.raw`[ \t]+|(?<separator>&&|\|\||[;|\n])|${REDIRECT}|${WORD}`, 'yu')
/** Blanks other than space, control characters and invisible characters. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{DI}]|(?! )\p{Zs}/u
/** Characters. Longer scripts are impossible to review at a glance. */
const MAX_LITERAL = 20_000
/** Reserved words that start a construct or change what follows, where a command may begin. */
const RESERVED = new Set('if then elif else fi case esac for select while until do done in function time coproc { } ! [[ ]]'.split(' '))
const ASSIGNMENT = /^\w+\+?=/

/**
 * Splits an entirely literal script into its simple commands. This is not a bash parser: it gives up at anything other than a plain word,
 * quoted text without expansions, or one of a few operators, so that nothing can be hidden from decisions based on the words.
 *
 * @returns undefined if the script is empty or not entirely literal
 */
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
  for (let at = 0; at < text.length; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at
    const found = TOKEN.exec(text)
    if (!found) return undefined
    const { separator, redirect, word } = found.groups ?? {}
    const isBegun = command.argv.length > 0
    if (separator !== undefined) {
      if (!isBegun || operator !== undefined) return undefined
      commands.push(command)
      command = { argv: [], redirects: [], after: (separator === '\n' ? ';' : separator) as LiteralCommand['after'] }
    } else if (redirect !== undefined) {
      if (operator !== undefined) return undefined
      operator = redirect
    } else if (word !== undefined) {
      const value = word.replace(/'([^']*)'|"([^"]*)"/g, '$1$2')
      if (operator !== undefined) command.redirects.push({ operator, target: value })
      else if (!isBegun && (RESERVED.has(word) || ASSIGNMENT.test(word) || value === '')) return undefined
      else command.argv.push(value)
      operator = undefined
    }
  }
  return command.argv.length === 0 || operator !== undefined ? undefined : [...commands, command]
}
