/** Where a command reads from and writes to. */
import { setVariable } from './effects.ts'
import { redirected } from './leaf.ts'
import type { Node } from './parse.ts'
import { expandParts, expandToOne, type Substitute } from './resolve.ts'
import { NUMBER, type Scope } from './scope.ts'
import type { Finding, Place, Redirection } from './types.ts'
import { type Arg, concat, NOTHING, type Stream, textArg } from './value.ts'

export interface Redirects {
  readonly all: Redirection[]
  readonly findings: Finding[]
  readonly stdin: Stream
  /** Where standard output goes. */
  readonly file: string | undefined
}

export function redirections(scope: Scope, place: Place, nodes: readonly Node[], stdin: Stream, substitute: Substitute): Redirects {
  const all: Redirection[] = []
  const findings: Finding[] = []
  let input = stdin
  let file: string | undefined
  for (const node of nodes) {
    // `{fd}<file` sets a variable.
    const named = 'descriptor' in node && node.descriptor?.type === 'FileDescriptorVariable' ? node.descriptor.name : undefined
    const steered = named === undefined ? undefined : setVariable(scope, named, NUMBER)
    if (steered) findings.push(steered)
    if (node.type === 'HereDoc') {
      const text = node.body.parts ? expandParts(node.body.parts, scope, substitute) : textArg(node.body.text)
      input = text.dynamic ? { ...originIn(text) } : { text: text.text }
    } else if (node.type === 'HereString') {
      const text = node.target && expandToOne(node.target, scope, substitute)
      input = text && !text.dynamic ? { text: `${text.text}\n` } : text ? originIn(text) : {}
    } else if (node.type === 'Redirect' && node.target) {
      const target = expandToOne(node.target, scope, substitute)
      const [piece] = target.pieces
      if ((node.operator === '>&' || node.operator === '<&') && /^(?:\d+-?|-)$/.test(target.text)) continue
      if (target.pieces.length === 1 && piece?.kind === 'unknown' && piece.stream) {
        // `< <(…)` and `> >(…)`: what runs there is judged for itself.
        if (node.operator === '<') input = piece.stream
        continue
      }
      const reads = node.operator === '<' || node.operator === '<&'
      const finding = redirected(reads ? '<' : node.operator, target, place)
      findings.push(finding)
      all.push({ operator: node.operator, target: target.text, writes: !reads && finding.verdict !== 'safe' })
      if (reads) input = fileOf(scope, place, target) ?? {}
      else if (node.descriptor === undefined || ('value' in node.descriptor && node.descriptor.value === 1)) file = target.text
    }
  }
  return { all, findings, stdin: input, file }
}

const originIn = (arg: Arg): Stream => {
  const piece = arg.pieces.find((one) => one.kind === 'unknown' && one.stream?.origin)
  return piece?.kind === 'unknown' && piece.stream?.origin ? { origin: piece.stream.origin } : {}
}

export function fileOf(scope: Scope, { cwd }: Place, arg: Arg): Stream | undefined {
  const path = arg.dynamic ? undefined : pathIn(arg.text, cwd)
  return path === undefined ? undefined : scope.files.get(path)
}

const pathIn = (text: string, cwd: string | undefined): string | undefined =>
  text.startsWith('/') ? text : cwd && `${cwd}/${text.replace(/^(?:\.\/)+/, '')}`

/** What the files it goes to hold from now on, and what is left to go on. */
export function written(scope: Scope, { cwd }: Place, { file }: Redirects, stream: Stream): Stream {
  if (file === undefined) return stream
  const path = pathIn(file, cwd)
  if (path !== undefined) {
    const before = scope.files.get(path)
    scope.files.set(path, before ? concat([before, stream]) : stream)
  }
  return NOTHING
}
