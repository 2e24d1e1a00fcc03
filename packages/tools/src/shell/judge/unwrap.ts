/** Programs that run another one: `sudo`, `env`, `xargs`, `bash -c`. */
import { fd, find, parallel, xargs } from './for-each.ts'
import { type Inner, joined, type Unwrapped } from './inner.ts'
import { OTHER, PREFIXES, type Prefix, ROOT } from './prefixes.ts'
import { entry } from './table.ts'
import { ask, deny, type Place } from './types.ts'
import { type Arg, isStatic, type Stream, streamOf, textArg } from './value.ts'

export const SHELLS: readonly string[] = ['sh', 'bash', 'dash', 'zsh', 'ksh', 'ash', 'mksh', 'rbash', 'fish', 'csh', 'tcsh']
export const INTERPRETERS =
  /^(?:python[\d.]*|pypy3?|perl[\d.]*|ruby[\d.]*|node|nodejs|deno|bun|php\d*|lua[\d.]*|tclsh|Rscript|osascript|pwsh|powershell|tsx|ts-node)$/

export function unwrap(name: string, args: readonly Arg[], stdin: Stream, place: Place): Unwrapped | undefined {
  if (name === 'xargs') return xargs(args, stdin)
  if (name === 'parallel') return parallel(args, stdin)
  if (name === 'find') return find(args, place)
  if (name === 'fd' || name === 'fdfind') return fd(args)
  if (name === 'eval') return args.length === 0 ? undefined : { inner: [{ code: joined(args) }] }
  if (name === 'trap') return trap(args)
  if (name === 'jobs') {
    const at = args.findIndex(({ text }) => /^-[a-zA-Z]*x/.test(text))
    return at === -1 ? undefined : { inner: [{ argv: args.slice(at + 1) }], finding: ask(OTHER) }
  }
  if (SHELLS.includes(name)) return shell(args, stdin)
  if (name === 'source' || name === '.')
    return args[0]
      ? { inner: [{ code: contentOf(args[0]), file: args[0], positional: args.slice(1) }], finding: ask('it runs a file') }
      : undefined
  if (name === 'su' || name === 'runuser' || name === 'script' || name === 'sg') return switchUser(name, args)
  if (name === 'ssh') return ssh(args)
  if (name === 'docker' || name === 'podman' || name === 'nerdctl' || name === 'kubectl') return container(args)
  const prefix = entry(PREFIXES, name)
  return prefix && prefixed(name, args, prefix)
}

function prefixed(name: string, args: readonly Arg[], prefix: Prefix): Unwrapped | undefined {
  const environment: Arg[] = []
  let operands = prefix.operands ?? 0
  let cwd: Arg | undefined
  let at = 0
  for (; at < args.length; at++) {
    const arg = args[at] as Arg
    const { text } = arg
    if (prefix.only?.test(text)) return undefined
    if (prefix.script?.includes(text) && args[at + 1])
      return { inner: [{ code: streamOf(args[at + 1] as Arg) }], finding: ask(prefix.asks ?? OTHER) }
    if (name === 'env' && /^(?:-[a-z]*S|--split-string)/.test(text)) return split(args, at)
    const [, long, value] = /^(--[^=]+)=?(.*)$/s.exec(text) ?? []
    if (text === '--') {
      at++
      break
    }
    if (prefix.chdir?.includes(long ?? text.slice(0, 2)))
      cwd = long ? (value ? textArg(value) : args[at + 1]) : text.length > 2 ? textArg(text.slice(2)) : args[at + 1]
    if (long !== undefined) at += prefix.longValues?.includes(text) ? 1 : 0
    else if (/^-./.test(text)) at += prefix.values?.includes(text.at(-1) as string) && !/^-\d/.test(text) ? 1 : 0
    else if (prefix.environment && /^[A-Za-z_]\w*=/.test(text)) environment.push(arg)
    else if (operands > 0) operands--
    else break
  }
  // `timeout 5 -- ls`: what comes before the command stands after the options.
  while (operands-- > 0) at++
  if (args[at]?.text === '--') at++
  const argv = args.slice(at)
  const finding =
    name === 'time' && args.slice(0, at).some(({ text }) => /^-[a-z]*o|^--o/.test(text))
      ? ask('it writes a file')
      : prefix.asks
        ? ask(prefix.asks)
        : undefined
  if (argv.length === 0) return finding ? { inner: [], finding } : undefined
  // These give what they were given to a shell.
  const asScript = name === 'watch' && isStatic(argv[0] as Arg) && /\s/.test(argv[0]?.text ?? '')
  const inner: Inner = asScript ? { code: joined(argv) } : { argv, environment, ...(cwd && { cwd }) }
  return { inner: [inner], ...(finding && { finding }) }
}

/** `env -S 'rm -rf /'`. */
function split(args: readonly Arg[], at: number): Unwrapped {
  const { text } = args[at] as Arg
  const own = text.startsWith('--') ? text.split('=').slice(1).join('=') : text.replace(/^-[a-z]*S/, '')
  const rest = args.slice(at + 1)
  return { inner: [{ code: joined(own === '' ? rest : [textArg(own), ...rest]) }], finding: ask(OTHER) }
}

/** Of a process substitution; what stands in other files is looked up by who runs it. */
const contentOf = (arg: Arg): Stream => (arg.pieces.length === 1 && arg.pieces[0]?.kind === 'unknown' ? streamOf(arg) : {})

const SHELL_VALUES = 'oO'

function shell(args: readonly Arg[], stdin: Stream): Unwrapped | undefined {
  let at = 0
  let command = false
  let fromInput = false
  for (; at < args.length; at++) {
    const { text } = args[at] as Arg
    if (text === '--version' || text === '--help') return undefined
    if (text === '--') {
      at++
      break
    }
    if (/^--(?:rcfile|init-file)$/.test(text)) at++
    else if (/^--/.test(text)) continue
    else if (/^[-+]./.test(text)) {
      command ||= text.startsWith('-') && text.includes('c')
      fromInput ||= text.startsWith('-') && text.includes('s')
      if (SHELL_VALUES.includes(text.at(-1) as string)) at++
    } else break
  }
  const [script, ...rest] = args.slice(at)
  const finding = ask('it starts a shell')
  // Of a script that is known, only what it does counts.
  if (command) return script ? { inner: [{ code: streamOf(script), positional: rest }] } : { inner: [], finding }
  if (script === undefined || fromInput || /^(?:-|\/dev\/(?:stdin|fd\/0)|\/proc\/self\/fd\/0)$/.test(script.text))
    return stdin.text !== undefined || stdin.origin
      ? { inner: [{ code: stdin, positional: script ? [textArg('sh'), script, ...rest] : [] }] }
      : { inner: [], finding }
  return { inner: [{ code: contentOf(script), file: script, positional: rest }], finding: ask('it runs a file') }
}

function trap(args: readonly Arg[]): Unwrapped | undefined {
  const [code] = args[0]?.text === '--' ? args.slice(1) : args
  if (code === undefined || /^-[lp]?$|^$/.test(code.text)) return undefined
  return { inner: [{ code: streamOf(code) }] }
}

function switchUser(name: string, args: readonly Arg[]): Unwrapped {
  const finding = ask(name === 'script' ? OTHER : ROOT)
  const at = args.findIndex(({ text }) => /^(?:-[a-z]*c|--command)$/.test(text))
  const joint = args.find(({ text }) => text.startsWith('--command='))
  const code = joint ? textArg(joint.text.slice('--command='.length)) : at === -1 ? undefined : args[at + 1]
  const after = args.findIndex(({ text }) => text === '--')
  if (code) return { inner: [{ code: streamOf(code) }], finding }
  return { inner: after === -1 ? [] : [{ argv: args.slice(after + 1) }], finding }
}

const SSH_VALUES = 'BbcDEeFIiJLlmOopQRSWw'

function ssh(args: readonly Arg[]): Unwrapped {
  let at = 0
  while (at < args.length && /^-./.test(args[at]?.text ?? ''))
    at += SSH_VALUES.includes(args[at]?.text.at(-1) as string) && args[at]?.text.length === 2 ? 2 : 1
  const words = args.slice(at + 1)
  return { inner: words.length === 0 ? [] : [{ code: joined(words), ownInput: true }], finding: ask('it runs on another machine') }
}

/** `docker run … image command`, `docker exec … container command`: whatever of the words starts a command. */
function container(args: readonly Arg[]): Unwrapped | undefined {
  const at = args.findIndex(({ text }) => /^(?:run|exec)$/.test(text))
  if (at === -1) return undefined
  const mounts = args.flatMap(({ text }, index) =>
    /^(?:-v|--volume|--mount)$/.test(text)
      ? [args[index + 1]?.text ?? '']
      : /^(?:--volume|--mount)=|^-v./.test(text)
        ? [text.replace(/^(?:--\w+=|-v)/, '')]
        : [],
  )
  if (mounts.some((mount) => /^\/:|(?:^|,)(?:source|src)=\/(?:,|$)/.test(mount)))
    return { inner: [], finding: deny('it gives a container the whole file system') }
  const words = args.slice(at + 1)
  const start = words.findIndex(
    ({ text }) => SHELLS.includes(text.replace(/.*\//, '')) || /^(?:rm|dd|mkfs.*)$/.test(text.replace(/.*\//, '')),
  )
  const inner = start === -1 ? [] : [{ argv: words.slice(start), ownInput: true }]
  return { inner, finding: ask('it runs a container') }
}
