/** What simple programs write, worked out without running them, so that what is hidden in it is seen. */

import { operandsOf, optionValues } from './options.ts'
import { absolute, vital } from './paths.ts'
import { entry } from './table.ts'
import type { Place } from './types.ts'
import { type Arg, argOf, patternArg, type Stream, textArg } from './value.ts'

const MOST = 100_000
const NETWORK = [
  'curl',
  'wget',
  'nc',
  'ncat',
  'netcat',
  'socat',
  'telnet',
  'ftp',
  'aria2c',
  'lynx',
  'w3m',
  'links',
  'http',
  'https',
  'xh',
  'dig',
  'nslookup',
  'host',
  'fetch',
]
const DECODERS = [
  'base64',
  'base32',
  'basenc',
  'openssl',
  'xxd',
  'uudecode',
  'gpg',
  'gunzip',
  'zcat',
  'bzcat',
  'xzcat',
  'zstdcat',
  'rev',
  'tr',
  'gzip',
  'xz',
  'bzip2',
  'zstd',
  'od',
  'hexdump',
  'ascii85',
  'iconv',
  'uuencode',
  'age',
  'brotli',
]

export function outputOf(name: string, args: readonly Arg[], stdin: Stream, place: Place): Stream {
  if (NETWORK.includes(name)) return { origin: 'network' }
  const known = entry(PROGRAMS, name)?.(args, stdin, place)
  const text = known?.text !== undefined && known.text.length <= MOST ? known.text : undefined
  if (known && (text !== undefined || known.lines)) return { ...known, ...origins(name, args, stdin), ...(text !== undefined && { text }) }
  return origins(name, args, stdin)
}

const decodes = (name: string, args: readonly Arg[]): boolean =>
  DECODERS.includes(name) &&
  (!['base64', 'base32', 'basenc', 'openssl', 'xxd', 'gpg', 'gzip', 'xz', 'bzip2', 'zstd'].includes(name) ||
    args.some(({ text }) => /^-\w*[dDrc]|^--d/.test(text)))

const origins = (name: string, args: readonly Arg[], { origin }: Stream): Stream =>
  decodes(name, args) ? { origin: origin ?? 'decoded' } : origin ? { origin } : {}

type Program = (args: readonly Arg[], stdin: Stream, place: Place) => Stream

const plain = (args: readonly Arg[]): boolean => args.every(({ dynamic }) => !dynamic)

const PROGRAMS: Readonly<Record<string, Program>> = {
  echo: (args) => {
    const options = args.findIndex(({ text }) => !/^-[neE]+$/.test(text))
    const flags = args
      .slice(0, options === -1 ? args.length : options)
      .map(({ text }) => text)
      .join('')
    const words = options === -1 ? [] : args.slice(options)
    if (!plain(words)) return { ...originIn(words) }
    const text = words.map((one) => one.text).join(' ')
    const value = flags.includes('e') ? unescaped(text) : text
    return { text: flags.includes('n') ? value : `${value}\n`, ...(words.some(({ glob }) => glob) && { lines: words }) }
  },
  printf: (args) => {
    const [format, ...rest] = args[0]?.text === '--' ? args.slice(1) : args
    if (format === undefined || format.text === '-v' || !plain(args)) return { ...originIn(args) }
    const text = formatted(
      format.text,
      rest.map((one) => one.text),
    )
    return text === undefined ? {} : { text }
  },
  cat: (args, stdin) => (operandsOf(args).every(({ text }) => text === '-') ? stdin : {}),
  tee: (_, stdin) => stdin,
  head: (args, stdin) => (operandsOf(args, ['-n', '-c']).length === 0 && (stdin.text?.split('\n').length ?? 99) <= 2 ? stdin : {}),
  base64: (args, { text }) => {
    if (text === undefined || operandsOf(args).length > 0) return {}
    if (!args.some((one) => /^-[a-zA-Z]*[dD]|^--d/.test(one.text))) return { text: Buffer.from(text).toString('base64') }
    return { text: Buffer.from(text, 'base64').toString('utf8') }
  },
  xxd: (args, { text }) => {
    const flags = args.map((one) => one.text).join('')
    return text !== undefined && /r/.test(flags) && /p/.test(flags)
      ? { text: Buffer.from(text.replace(/\s/g, ''), 'hex').toString('utf8') }
      : {}
  },
  rev: (_, { text }) =>
    text === undefined
      ? {}
      : {
          text: text
            .split('\n')
            .map((line) => [...line].reverse().join(''))
            .join('\n'),
        },
  tr: (args, { text }) => {
    const flags = args
      .filter((one) => /^-./.test(one.text))
      .map((one) => one.text)
      .join('')
    const [from, to] = operandsOf(args).map((one) => characters(one.text))
    if (text === undefined || from === undefined || !plain(args) || /[cCst]/.test(flags)) return {}
    if (flags.includes('d')) return { text: [...text].filter((char) => !from.includes(char)).join('') }
    if (to === undefined || to.length === 0) return {}
    return {
      text: [...text]
        .map((char) => (from.includes(char) ? (to[Math.min(from.lastIndexOf(char), to.length - 1)] as string) : char))
        .join(''),
    }
  },
  sed: (args, { text }) => {
    const [script, ...files] = operandsOf(args)
    const found = /^s([/|#,:])([\w .-]*)\1([\w ./-]*)\1(g?)$/.exec(script?.text ?? '')
    if (text === undefined || found === null || files.length > 0 || args.length !== 1) return {}
    const [, , from = '', to = '', all] = found
    if (from === '' || from.includes('.')) return {}
    return {
      text: all
        ? text.split(from).join(to)
        : text
            .split('\n')
            .map((line) => line.replace(from, () => to))
            .join('\n'),
    }
  },
  cut: (args, { text }) => {
    const [range] = optionValues(args, ['-c', '--characters'])
    const found = /^(\d+)(-?)(\d*)$/.exec(range ?? '')
    if (text === undefined || found === null) return {}
    const from = Number(found[1]) - 1
    const to = found[2] === '' ? from + 1 : found[3] === '' ? undefined : Number(found[3])
    return {
      text: text
        .split('\n')
        .map((line) => line.slice(from, to))
        .join('\n'),
    }
  },
  pwd: (_, __, { cwd }) => (cwd === undefined ? {} : { text: `${cwd}\n` }),
  realpath: (args, _, place) => paths(operandsOf(args), (text) => absolute(text, place)),
  readlink: (args, _, place) => (args[0] && /^-[fem]/.test(args[0].text) ? paths(operandsOf(args), (text) => absolute(text, place)) : {}),
  dirname: (args) =>
    paths(operandsOf(args), (text) => text.replace(/\/+$/, '').replace(/(?:^|\/+)[^/]*$/, '') || (text.startsWith('/') ? '/' : '.')),
  basename: (args) => (args.length === 1 ? paths(args, (text) => text.replace(/\/+$/, '').replace(/.*\//, '') || '/') : {}),
  git: (args, _, { workspace }) =>
    args.map(({ text }) => text).join(' ') === 'rev-parse --show-toplevel' ? { text: `${workspace}\n` } : {},
  ls: (args, _, place) => {
    const dirs = operandsOf(args)
    const lines = (dirs.length === 0 ? [textArg('.')] : dirs).flatMap((dir) =>
      dir.glob || dir.dynamic ? [dir] : [patternArg(`${absolute(dir.text, place) ?? dir.text}/*`.replace('//', '/'))],
    )
    return { lines }
  },
  find: (args, _, place) => ({ lines: foundBy(args, place) }),
  which: (args) => (args.length === 1 && plain(args) ? { text: args[0]?.text ?? '' } : {}),
}

function originIn(args: readonly Arg[]): Stream {
  const origin = args.flatMap(({ pieces }) => pieces.flatMap((one) => (one.kind === 'unknown' && one.stream?.origin) || []))[0]
  return origin ? { origin } : {}
}

function paths(args: readonly Arg[], change: (text: string) => string | undefined): Stream {
  const all = args.map((arg) => (arg.dynamic || arg.glob ? undefined : change(arg.text)))
  return all.length === 0 || all.includes(undefined) ? {} : { text: all.map((one) => `${one}\n`).join('') }
}

/** Patterns for what `find` finds: its start with the names it looks for, and the start itself where everything is meant or nothing may be lost. */
export function foundBy(args: readonly Arg[], place: Place): Arg[] {
  const first = args.findIndex(({ text }) => /^(?:-[^HLPOD]|[(!])/.test(text) && !/^-[HLPOD]/.test(text))
  const starts = operandsOf(args.slice(0, first === -1 ? args.length : first))
  const tests = first === -1 ? [] : args.slice(first)
  const names = tests.flatMap(({ text }, at) =>
    /^-(?:i?name|i?path|i?wholename)$/.test(text) ? [tests[at + 1]?.text.replace(/^.*\//, '') ?? '*'] : [],
  )
  const filtered = tests.some(({ text }) => FILTERS.test(text))
  return (starts.length === 0 ? [textArg('.')] : starts).flatMap((start) => {
    const path = start.dynamic || start.glob ? undefined : absolute(start.text, place)
    const base = path ?? start.text
    const lost =
      path !== undefined &&
      vital(path, place) !== undefined &&
      !(filtered && (path === place.workspace || path.startsWith(`${place.workspace}/`)))
    const whole = lost || !filtered ? [start] : []
    if (names.length === 0 && whole.length === 0)
      return [argOf([...start.pieces, { kind: 'text', text: '/' }, { kind: 'unknown', text: 'found', quoted: true }])]
    return [...whole, ...names.map((name) => patternArg(`${base === '/' ? '' : base}/${name}`))]
  })
}

const FILTERS =
  /^-(?:i?name|i?path|i?wholename|i?regex|i?lname|newer\w*|[acm]time|[acm]min|size|empty|user|group|perm|nouser|nogroup|inum|samefile|links)$/

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\x07',
  b: '\b',
  e: '\x1b',
  f: '\f',
  v: '\v',
  '\\': '\\',
  '"': '"',
  "'": "'",
}

const unescaped = (text: string): string =>
  text.replace(/\\(?:x([\da-fA-F]{1,2})|u([\da-fA-F]{1,4})|U([\da-fA-F]{1,8})|0?([0-7]{1,3})|(.))/gs, (whole, hex, u, U, octal, char) => {
    const code = hex ?? u ?? U
    if (code !== undefined) return Number.parseInt(code, 16) <= 0x10ffff ? String.fromCodePoint(Number.parseInt(code, 16)) : whole
    if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8) & 255)
    return ESCAPES[char as string] ?? whole
  })

const MOST_ROUNDS = 1000

/** The format is used again for as long as there are values. */
function formatted(format: string, values: readonly string[]): string | undefined {
  let [text, at] = ['', 0]
  for (let round = 0; round === 0 || (at < values.length && round < MOST_ROUNDS); round++) {
    const before = at
    let strange = false
    text += unescaped(format.replaceAll('%%', '\0'))
      .replace(/%-?\d*(?:\.\d+)?([a-zA-Z])/g, (_, kind: string) => {
        const value = values[at++] ?? ''
        if (kind === 's' || kind === 'd' || kind === 'i') return value
        if (kind === 'b') return unescaped(value)
        if (kind === 'c') return value.slice(0, 1)
        strange = true
        return ''
      })
      .replaceAll('\0', '%')
    if (strange || text.length > MOST) return undefined
    if (at === before) break
  }
  return text
}

/** The characters of a set of `tr`; undefined where it is none that is known. */
function characters(set: string): string[] | undefined {
  const text = set
    .replaceAll('[:upper:]', 'A-Z')
    .replaceAll('[:lower:]', 'a-z')
    .replaceAll('[:space:]', ' \\t\\n')
    .replaceAll('[:digit:]', '0-9')
  const all = [...unescaped(text)]
  const found: string[] = []
  for (let at = 0; at < all.length; at++) {
    const [from, dash, to] = all.slice(at, at + 3)
    if (dash === '-' && to !== undefined) {
      for (let code = (from as string).charCodeAt(0); code <= to.charCodeAt(0) && found.length < MOST; code++)
        found.push(String.fromCharCode(code))
      at += 2
    } else found.push(from as string)
  }
  return found
}
