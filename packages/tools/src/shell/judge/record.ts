/** A command in one spelling. */
import { formsOf } from './forms.ts'
import { absolute } from './paths.ts'
import type { Finding, Place, Redirection, SimpleCommand } from './types.ts'
import type { Arg } from './value.ts'

export interface Written {
  /** `NAME=value`, before the command. */
  readonly environment: readonly Arg[]
  readonly argv: readonly Arg[]
  readonly redirects: readonly Redirection[]
}

/** Their single letters may come in any order, in one word or in several. */
const BUNDLING = new Set(['rm', 'cp', 'mv', 'ls', 'mkdir', 'chmod', 'chown', 'rmdir', 'touch', 'ln'])
/** All their operands are paths. */
const ON_FILES = new Set([
  ...BUNDLING,
  'cat',
  'head',
  'tail',
  'tee',
  'truncate',
  'shred',
  'unlink',
  'less',
  'wc',
  'sort',
  'stat',
  'file',
  'du',
  'diff',
  'cd',
  'source',
  '.',
])

export function recorded(finding: Finding, name: string | undefined, written: Written, place: Place): SimpleCommand {
  const { argv, redirects } = written
  const environment = written.environment.map(quoted).sort()
  const files = redirects.filter(({ writes }) => writes)
  const program = argv[0]?.text.replace(/^.*\//, '') ?? ''
  const asPath = (arg: Arg): string | undefined => (isPath(arg, program) ? absolute(arg.text, place) : undefined)
  const targets = files.map(({ operator, target }) => `${operator} ${absolute(target, place) ?? target}`)
  const paths = [...argv.slice(1).flatMap((arg) => asPath(arg) ?? []), ...redirects.flatMap(({ target }) => absolute(target, place) ?? [])]
  const options = BUNDLING.has(program) ? bundled(argv.slice(1)) : undefined
  const rest = options === undefined ? argv.slice(1) : argv.slice(1).filter(({ text }) => !isOption(text))
  const words = [program, ...(options ?? []), ...rest.map((arg) => asPath(arg) ?? arg.text)]
  return {
    ...finding,
    name,
    words: argv.map(({ text, dynamic }) => ({ text, dynamic })),
    redirects,
    // What it writes stands first: so a rule for `npm test *` is none for `npm test > file`.
    text: [...files.map(({ operator, target }) => `${operator} ${plain(target)}`), ...environment, ...argv.map(quoted)].join(' '),
    paths: [...new Set(paths)],
    key: JSON.stringify([environment, words, targets.sort()]),
    forms: formsOf(argv, place, quoted),
    cwd: place.cwd,
  }
}

const isOption = (text: string): boolean => /^-./.test(text)

/** The options in one order; undefined where one may have a value. */
function bundled(args: readonly Arg[]): string[] | undefined {
  const options = args.filter(({ text }) => isOption(text))
  if (options.some(({ text, dynamic }) => dynamic || !/^(?:-[a-zA-Z]+|--[a-z-]+)$/.test(text))) return undefined
  const letters = options.flatMap(({ text }) => (text.startsWith('--') ? [text] : [...text.slice(1)].map((letter) => `-${letter}`)))
  return [...new Set(letters)].sort()
}

const isPath = ({ text, dynamic }: Arg, program: string): boolean =>
  !dynamic &&
  !text.startsWith('-') &&
  text !== '' &&
  !/^\w+:\/\/|\n/.test(text) &&
  (/^(?:\.{0,2}\/|\.{1,2}$)/.test(text) || ON_FILES.has(program) || (/\//.test(text) && /^[\w./@+-]+$/.test(text)))

const quoted = (arg: Arg): string => (arg.dynamic || arg.glob ? arg.text : plain(arg.text))

const plain = (text: string): string => {
  if (/^[\w@%+=:,./{}~^-]+$/.test(text)) return text
  return `'${text.replaceAll("'", `'\\''`)}'`
}
