/** Programs that run another one for each of what they are given or find: `xargs`, `parallel`, `find -exec`. */
import { type Inner, joined, type Unwrapped } from './inner.ts'
import { foundBy } from './output.ts'
import { OTHER } from './prefixes.ts'
import { ask, type Place } from './types.ts'
import { type Arg, argOf, baseName, isStatic, type Stream, streamOf, textArg, unknownArg } from './value.ts'

const XARGS_VALUES = 'aEdILnPs'

/** They show what files hold, whichever they are given. */
const SHOWS =
  /^(?:cat|tac|head|tail|less|more|bat|nl|strings|od|xxd|hexdump|hd|base64|base32|cut|tr|rev|sort|uniq|paste|fold|fmt|column|jq|yq|sed|awk|gawk|mawk|nawk|diff|cmp|comm|join|pr|expand|unexpand|(?:[efzr]|bz|xz)?grep|rg|ag|zcat)$/
const ANY_FILE = ask('it shows what is in files of any name, keys included')
const shows = (argv: readonly Arg[]): boolean => {
  const name = baseName(argv[0]?.text ?? '')
  // Of these only the names of files.
  if (/grep$|^rg$/.test(name) && argv.some(({ text }) => /^-\w*[lLcq]|^--(?:files-with|files-without|count|quiet)/.test(text))) return false
  return SHOWS.test(name)
}

export function xargs(args: readonly Arg[], stdin: Stream): Unwrapped {
  let at = 0
  let replace: string | undefined
  for (; at < args.length; at++) {
    const { text } = args[at] as Arg
    if (text === '--') {
      at++
      break
    }
    if (!/^-./.test(text)) break
    const [, own] = /^(?:-[a-zA-Z0]*?[Ii]|--replace=?)(.*)$/s.exec(text) ?? []
    if (own !== undefined) replace = own !== '' ? own : text === '-I' ? (args[++at]?.text ?? '{}') : '{}'
    else if (!text.startsWith('--') && XARGS_VALUES.includes(text.at(-1) as string)) at++
    else if (/^--(?:arg-file|delimiter|max-args|max-procs|max-lines|max-chars|eof)$/.test(text)) at++
  }
  const argv = args.slice(at)
  if (argv.length === 0) return { inner: [{ argv: [textArg('echo'), unknownArg('…')], ownInput: true }] }
  const given = inputs(stdin)
  const full = replace === undefined ? [[...argv, ...given]] : given.map((one) => argv.map((arg) => put(arg, replace as string, one)))
  const inner = full.slice(0, MOST_COMMANDS).map((words): Inner => ({ argv: words, ownInput: true }))
  const unnamed = stdin.text === undefined && stdin.lines === undefined && shows(argv)
  const finding = full.length > MOST_COMMANDS ? TOO_MANY : unnamed ? ANY_FILE : undefined
  return { inner, ...(finding && { finding }) }
}

/** Words that are given to one command. */
const MOST_INPUTS = 5000
/** Commands that one is made to. */
const MOST_COMMANDS = 200
const TOO_MANY = ask('it runs too many commands to be judged')

function inputs({ text, lines, origin }: Stream): Arg[] {
  if (lines) return [...lines.slice(0, MOST_INPUTS)]
  if (text === undefined || text.length > 50_000) return [unknownArg('…', origin ? { origin } : undefined)]
  const words = text.split(/[\s\0]+/).filter((word) => word !== '')
  const all = words.map((word) => textArg(word.replace(/^(["'])(.*)\1$/s, '$2').replace(/\\(.)/gs, '$1')))
  return all.length > MOST_INPUTS ? [...all.slice(0, MOST_INPUTS), unknownArg('…')] : all.length === 0 ? [unknownArg('…')] : all
}

/** The input in place of `{}`. */
function put(arg: Arg, place: string, one: Arg): Arg {
  if (place === '' || !arg.text.includes(place)) return arg
  if (arg.text === place) return one
  const [before = '', ...after] = arg.text.split(place)
  return argOf([{ kind: 'text', text: before }, ...after.flatMap((text) => [...one.pieces, { kind: 'text', text } as const])])
}

export function parallel(args: readonly Arg[], stdin: Stream): Unwrapped {
  const finding = ask('it runs programs side by side')
  const colons = args.findIndex(({ text }) => /^:::/.test(text))
  const before = args.slice(0, colons === -1 ? args.length : colons)
  let at = 0
  while (at < before.length && /^-./.test(before[at]?.text ?? ''))
    at += /^-[jnNaIPdSL]$|^--(?:jobs|delay|timeout|retries|colsep|arg-file|max-args|joblog|results)$/.test(before[at]?.text ?? '') ? 2 : 1
  const argv = before.slice(at)
  const given = (colons === -1 ? inputs(stdin) : args.slice(colons + 1)).slice(0, MOST_COMMANDS)
  if (argv.length === 0) return { inner: given.map((one) => ({ code: streamOf(one), ownInput: true })), finding }
  const inner = given.map((one): Inner => {
    const words = argv.some(({ text }) => text.includes('{}')) ? argv.map((arg) => put(arg, '{}', one)) : [...argv, one]
    return words.every(isStatic) ? { code: joined(words), ownInput: true } : { argv: words, ownInput: true }
  })
  return { inner, finding }
}

export function find(args: readonly Arg[], place: Place): Unwrapped | undefined {
  const inner: Inner[] = []
  args.forEach(({ text }, at) => {
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(text)) return
    const rest = args.slice(at + 1)
    const end = rest.findIndex((one, index) => one.text === ';' || (one.text === '+' && rest[index - 1]?.text === '{}'))
    const argv = end === -1 ? rest : rest.slice(0, end)
    if (argv.length === 0) return
    for (const one of foundBy(args.slice(0, at), place)) inner.push({ argv: argv.map((arg) => put(arg, '{}', one)), ownInput: true })
  })
  if (inner.length === 0) return undefined
  const unnamed = !args.some(
    ({ text }, at) => /^-i?name$/.test(text) && !/^(?:!|-not)$/.test(args[at - 1]?.text ?? '') && /\w/.test(args[at + 1]?.text ?? ''),
  )
  const finding = inner.length > MOST_COMMANDS ? TOO_MANY : unnamed && inner.some(({ argv }) => argv && shows(argv)) ? ANY_FILE : undefined
  return { inner: inner.slice(0, MOST_COMMANDS), ...(finding && { finding }) }
}

export function fd(args: readonly Arg[]): Unwrapped | undefined {
  const at = args.findIndex(({ text }) => /^(?:-[a-zA-Z]*[xX]|--exec|--exec-batch)$/.test(text))
  return at === -1 ? undefined : { inner: [{ argv: [...args.slice(at + 1), unknownArg('{}')], ownInput: true }], finding: ask(OTHER) }
}
