/** One program with its arguments: may it run? */
import { printsKeys } from './credentials.ts'
import { destructive, guardedText } from './destructive.ts'
import { codeOf, handedOn, inCode } from './embedded.ts'
import { onlyReads } from './safe-programs.ts'
import { secretRead } from './secrets.ts'
import { ask, deny, type Finding, type Place, safe } from './types.ts'
import { INTERPRETERS, SHELLS } from './unwrap.ts'
import { type Arg, baseName, isAssumed, isStatic, type Stream, withNumbers } from './value.ts'

export interface Leaf {
  readonly program: Arg
  readonly args: readonly Arg[]
  readonly stdin: Stream
  readonly place: Place
  /** What the script itself has written to a file. */
  readonly fileOf: (arg: Arg) => Stream | undefined
  /** Judges text as a script. */
  readonly judge: (script: string) => Finding
}

const SYSTEM_BIN = /^\/(?:usr\/(?:local\/)?)?s?bin\/[^/]+$|^\/opt\/homebrew\/bin\/[^/]+$/
/** Seen behind a program that is not known, they are taken for what it runs. */
const RUN_BY_OTHERS = /^(?:rm|dd|mkfs.*|shred|chmod|chown|find|wipefs|mv|tee|bash|sh|zsh|cat)$/

export function judgeLeaf(leaf: Leaf): Finding {
  const { program, args, place } = leaf
  const name = baseName(program.text)
  const hard = destructive(name, args, place) ?? keys(name, args, place) ?? code(name, leaf)
  if (hard) return hard
  for (const text of handedOn(name, args)) {
    const found = leaf.judge(text)
    if (found.verdict === 'deny') return found
  }
  if (isAssumed(program)) return ask('what it runs is known only later')
  const reads =
    program.text.includes('/') && !SYSTEM_BIN.test(program.text)
      ? 'it runs a program by its path'
      : onlyReads(name, args.map(withNumbers), place)
  if (reads === true) return safe()
  return behind(name, leaf) ?? ask(reads)
}

function keys(name: string, args: readonly Arg[], place: Place): Finding | undefined {
  if (printsKeys(name, args)) return deny('it prints keys or passwords')
  const path = secretRead(name, args, place)
  return path === undefined ? undefined : deny(`it reads keys (${path})`)
}

/** What an interpreter is given to run. */
function code(name: string, { args, stdin, place, fileOf, judge }: Leaf): Finding | undefined {
  if (!INTERPRETERS.test(name)) return undefined
  const given = codeOf(name, args)
  const [file] = args.filter(({ text }) => !text.startsWith('-') || text === '-')
  const streams: Stream[] = [...given.map((text) => ({ text }))]
  for (const arg of args) for (const piece of arg.pieces) if (piece.kind === 'unknown' && piece.stream) streams.push(piece.stream)
  if (given.length === 0) streams.push(file === undefined || file.text === '-' || file.text === '/dev/stdin' ? stdin : (fileOf(file) ?? {}))
  for (const { text, origin } of streams) {
    if (origin) return deny(origin === 'network' ? 'it runs what it fetches' : 'it runs what it decodes')
    const found = text === undefined ? undefined : inCode(text, place, judge)
    if (found) return found
  }
  return undefined
}

const MOST_TAILS = 20

/** Of a program that is not known, the end of its arguments may be what it runs. */
function behind(name: string, { args, place }: Leaf): Finding | undefined {
  if (/^(?:git|npm|yarn|pnpm|man|apt|apt-get|brew|pip|echo|printf|which|type|mv|cp|ln|touch|mkdir|rm)$/.test(name) || SHELLS.includes(name))
    return undefined
  let tails = 0
  for (const [at, arg] of args.entries()) {
    if (!isStatic(arg) || !RUN_BY_OTHERS.test(baseName(arg.text)) || tails++ > MOST_TAILS) continue
    const found = destructive(baseName(arg.text), args.slice(at + 1), place)
    if (found) return found
  }
  return undefined
}

/** What a redirection does to a file. */
export function redirected(operator: string, target: Arg, place: Place): Finding {
  const { text } = target
  if (/^\/dev\/(?:tcp|udp)\//.test(text)) return ask('it opens a connection')
  const guard = guardedText(text, place)
  if (guard && operator !== '<') return deny(`${guard} (${text})`)
  if (operator === '<') return keys('cat', [target], place) ?? safe()
  if (/^\/dev\/(?:null|stdout|stderr|tty|fd\/\d+)$/.test(text) && !target.dynamic) return safe()
  return ask(`it writes to ${target.dynamic ? 'a file' : text}`)
}
