/** Which calls of git only read. */
import { endsOptions, meansLong } from './options.ts'
import { absolute, isInside } from './paths.ts'
import type { Place } from './types.ts'
import { type Arg, isStatic, maybeOption } from './value.ts'

type Check = (args: readonly Arg[]) => boolean

/** They write a file or run a program of the settings. */
const NEVER = ['--output', '--ext-diff', '--open-files-in-pager', '--upload-pack', '--exec', '--textconv', '--filters', '--show-signature']

const any: Check = () => true
const words = (args: readonly Arg[]): string[] => args.map(({ text }) => text)
const operands = (args: readonly Arg[]): string[] => words(args).filter((word) => !word.startsWith('-'))
const first =
  (...names: readonly string[]): Check =>
  (args) =>
    names.includes(args[0]?.text ?? '')
const lacks =
  (pattern: RegExp): Check =>
  (args) =>
    !words(args).some((word) => pattern.test(word))
/** Only these options: git takes what is short for any of them. */
const options =
  (pattern: RegExp): Check =>
  (args) =>
    words(args).every((word) => !word.startsWith('-') || pattern.test(word))
const firstOrNone =
  (...names: readonly string[]): Check =>
  (args) =>
    operands(args).length === 0 || names.includes(args[0]?.text ?? '')

const LISTING =
  /^(?:-l|--list|-a|--all|-r|--remotes|-v+|-vv|--verbose|--show-current|--contains|--no-contains|--merged|--no-merged|--points-at|--sort|--format|--column|--no-column|--color|--no-color|--abbrev|-i|--ignore-case|-n\d*)(?:=|$)/
const VALUED = /^(?:--contains|--no-contains|--merged|--no-merged|--points-at|--sort|--format)$/

/** Lists: every option is one of listing, and names are patterns or values only where `-l` or a filter says so. */
const lists: Check = (args) => {
  const all = words(args)
  if (!all.every((word, at) => !word.startsWith('-') || LISTING.test(word) || VALUED.test(all[at - 1] ?? ''))) return false
  const free = all.filter((word, at) => !word.startsWith('-') && !VALUED.test(all[at - 1] ?? ''))
  return free.length === 0 || all.some((word) => /^(?:-l|--list)$/.test(word))
}

const READERS: Readonly<Record<string, Check>> = {
  status: any,
  diff: any,
  log: any,
  show: any,
  'rev-parse': any,
  'rev-list': any,
  'ls-files': any,
  'ls-tree': any,
  blame: any,
  annotate: any,
  shortlog: any,
  describe: any,
  'name-rev': any,
  'cat-file': any,
  'merge-base': any,
  'for-each-ref': any,
  'show-ref': any,
  whatchanged: any,
  'diff-tree': any,
  'diff-index': any,
  'diff-files': any,
  'range-diff': any,
  cherry: any,
  'count-objects': any,
  'check-ignore': any,
  'check-attr': any,
  var: any,
  version: any,
  'show-branch': any,
  'merge-tree': any,
  'check-ref-format': any,
  'get-tar-commit-id': any,
  grep: lacks(/^-[a-zA-Z]*O/),
  fsck: options(/^--(?:full|strict|unreachable|dangling|no-dangling|connectivity-only|verbose|no-reflogs|root|tags|progress|no-progress)$/),
  'symbolic-ref': (args) => operands(args).length === 1 && options(/^(?:-q|--quiet|--short|--recurse|--no-recurse)$/)(args),
  reflog: lacks(/^(?:expire|delete|drop|write)$/),
  branch: lists,
  tag: lists,
  remote: (args) => operands(args).length === 0 || args[0]?.text === 'get-url',
  stash: first('list', 'show'),
  worktree: first('list'),
  notes: first('list', 'show'),
  bisect: first('log', 'view'),
  submodule: firstOrNone('status', 'summary'),
  config: (args) =>
    /^(?:--get|--get-all|--get-regexp|--list|-l|get|list)$/.test(
      args.find(
        ({ text }) =>
          !/^--(?:global|local|system|worktree|show-origin|show-scope|name-only|null|type=\w+|includes|bool|int|path)$|^-z$/.test(text),
      )?.text ?? '',
    ),
  apply: (args) =>
    options(/^(?:--(?:check|stat|numstat|summary|verbose|reverse)|-v|-R|-p\d+)$/)(args) &&
    words(args).some((word) => /^--(?:check|stat|numstat|summary)$/.test(word)),
  help: (args) => !words(args).some((word) => /^-[wi]|^--[wi]/.test(word)),
  archive: (args) => words(args).join(' ') === '--list' || words(args).join(' ') === '-l',
}

/** After these `--` is no value. */
const FLAGS =
  /^(?:--(?:oneline|stat|cached|staged|name-only|name-status|follow|graph|all|patch|no-patch|shortstat|numstat|quiet)|-[psqw]|-\d+|--[\w-]+=.*)$/

/** Settings that may be given with `-c`: they change how it looks. */
const HARMLESS =
  /^(?:color\.[\w.]+|core\.(?:quotepath|abbrev|pager)|diff\.(?:renames|algorithm|context|mnemonicprefix|noprefix)|log\.\w+|advice\.\w+|pager\.\w+|status\.\w+|column\.\w+|grep\.\w+|safe\.directory)=(.*)$/i

export function gitReads(args: readonly Arg[], place: Place): boolean {
  let at = 0
  for (; at < args.length; at++) {
    const { text } = args[at] as Arg
    if (!text.startsWith('-')) break
    if (text === '-C') {
      if (!inWorkspace(args[++at], place)) return false
    } else if (text === '-c') {
      const setting = HARMLESS.exec(args[++at]?.text ?? '')
      if (setting === null || args[at]?.dynamic || (/pager/i.test(setting[0]) && !/^(?:cat|false|less)?$/.test(setting[1] ?? '')))
        return false
    } else if (text === '--version' || text === '--help') return args.length === 1
    else if (
      !/^(?:--no-pager|-P|--no-optional-locks|--literal-pathspecs|--no-replace-objects|--glob-pathspecs|--icase-pathspecs)$/.test(text)
    )
      return false
  }
  const [command, ...rest] = args.slice(at)
  if (command === undefined || !isStatic(command)) return false
  const end = rest.findIndex(({ text }, index) => text === '--' && (endsOptions(rest, index) || FLAGS.test(rest[index - 1]?.text ?? '')))
  const given = end === -1 ? rest : rest.slice(0, end)
  if (given.some((one) => (one.dynamic || one.glob) && maybeOption(one))) return false
  if (given.some(({ text }) => NEVER.some((never) => meansLong(text, never)) || /%G|%\(signature|signature:/.test(text))) return false
  if (given.some(({ text }) => text === '--no-index') && rest.some((one) => !one.text.startsWith('-') && !inWorkspace(one, place)))
    return false
  return Object.hasOwn(READERS, command.text) && READERS[command.text]?.(rest) === true
}

function inWorkspace(arg: Arg | undefined, place: Place): boolean {
  const path = arg && !arg.dynamic ? absolute(arg.text, place) : undefined
  return path !== undefined && isInside(path, place.workspace)
}
