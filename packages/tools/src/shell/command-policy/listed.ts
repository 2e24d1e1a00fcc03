/**
 * The commands that run without a question: programs that read, and for each the options that are known to neither write nor run
 * anything. Whatever is not listed here asks.
 */

interface Listed {
  /** Single letters without a value. */
  readonly flags?: string
  /** Single letters whose value is the rest of the word or the next one, and what the value must look like. */
  readonly values?: Readonly<Record<string, RegExp>>
  /** Long options as they stand; one that ends in `=` has a value. */
  readonly long?: string
  /** What the operands are. Default: paths. `pattern`: the first one is a pattern, the others are paths. */
  readonly operands?: 'paths' | 'text' | 'none' | 'pattern'
  /** What operands that are no paths must look like. */
  readonly like?: RegExp
  /** When it reads files that are not named, key files too: it must then show no more than names and counts. */
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
 * The paths that a listed command reads.
 *
 * @returns undefined for one that is not listed
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

/** Every word that may be an option is known; undefined where one is not. */
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
