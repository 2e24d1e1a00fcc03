/** `sed` and `awk`: programs in an argument. */
import { operandsOf } from './options.ts'
import { type Arg, maybeOption } from './value.ts'

/** Whether a call of `sed` writes no file and runs nothing. */
export function sedReads(args: readonly Arg[]): boolean {
  if (args.some((arg, at) => arg.dynamic && (maybeOption(arg) || at === 0))) return false
  if (args.some(({ text, glob }, at) => glob && (/^-/.test(text) || at === 0))) return false
  const scripts: string[] = []
  let given = false
  for (let at = 0; at < args.length; at++) {
    const { text } = args[at] as Arg
    if (text === '--') break
    if (/^(?:-i|--in|-[nErsuz]*[if]|--file|-f)/.test(text)) return false
    if (/^-[nErsuz]*e$|^--expression$/.test(text)) {
      scripts.push(args[++at]?.text ?? '')
      given = true
    } else if (/^--expression=/.test(text)) {
      scripts.push(text.slice('--expression='.length))
      given = true
    } else if (/^-[nErsuz]*e./.test(text)) {
      scripts.push(text.replace(/^-[nErsuz]*e/, ''))
      given = true
    } else if (
      /^-/.test(text) &&
      !/^(?:-[nErsuz]+|-l\d+|--(?:quiet|silent|regexp-extended|null-data|separate|unbuffered|posix|sandbox|debug|line-length=\d+))$/.test(
        text,
      )
    )
      return false
  }
  const operands = operandsOf(args, ['-e', '--expression', '-n -e'])
  const script = given ? undefined : operands[0]
  if (script?.dynamic || (given && args.some((one) => one.dynamic && scripts.includes(one.text)))) return false
  // Fragments are lines of one script.
  const all = [...scripts, ...(script ? [script.text] : [])]
  return [...all, all.join('\n')].every(sedScriptReads)
}

const ADDRESS = /^(?:\d+(?:~\d+)?|\$|\/(?:\\.|[^/\\\n])*\/[IM]*|\\(.)(?:\\.|(?!\1).)*\1[IM]*)/s

/** Reads a script from its start, and gives up (false) at what it does not know. */
export function sedScriptReads(script: string): boolean {
  let rest = script
  for (let rounds = 0; rounds < 1000; rounds++) {
    rest = rest.replace(/^[\s;{}]+/, '')
    if (rest === '') return true
    if (rest.startsWith('#')) {
      rest = rest.replace(/^[^\n]*/, '')
      continue
    }
    if (bracketOpen(ADDRESS.exec(rest)?.[0] ?? '')) return false
    rest = rest.replace(ADDRESS, '').replace(/^\s*/, '')
    if (rest.startsWith(','))
      rest = rest
        .slice(1)
        .replace(/^\s*(?:[+~]\d+|)/, '')
        .replace(ADDRESS, '')
    rest = rest.replace(/^[\s!]*/, '')
    const command = rest[0]
    if (command === undefined) return true
    if ('{}'.includes(command)) continue
    if ('pPdDnNgGhHxz='.includes(command)) rest = rest.slice(1)
    else if ('lqQL'.includes(command)) rest = rest.replace(/^.[ \t]*\d*/, '')
    else if ('btT:'.includes(command)) {
      // Of a label, whatever is no space and no semicolon is part.
      const [all = '', label = ''] = /^.[ \t]*([^;\s]*)/.exec(rest) ?? []
      if (!/^[\w.-]*$/.test(label) && !(command !== ':' && label.startsWith('}'))) return false
      rest = rest.slice(all.length - (label.startsWith('}') ? label.length : 0))
    } else if ('aic'.includes(command)) rest = rest.replace(/^.(?:\\[\s\S]|[^\n\\])*/, '')
    else if (command === 's' || command === 'y') {
      const after = delimited(rest.slice(1))
      if (after === undefined) return false
      const flags = /^[a-zA-Z0-9]*/.exec(after)?.[0] ?? ''
      if (/[^gpiIm\d]/.test(flags)) return false
      rest = after.slice(flags.length)
    } else return false
  }
  return false
}

/** Whether a delimiter in brackets ends a pattern, programs differ. */
const bracketOpen = (pattern: string): boolean => pattern.lastIndexOf('[') > pattern.lastIndexOf(']')

/** What follows the third delimiter of `s/…/…/`. */
function delimited(text: string): string | undefined {
  const mark = text[0]
  if (mark === undefined || mark === '\\' || mark === '\n') return undefined
  let seen = 1
  for (let at = 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === mark) {
      seen++
      if (bracketOpen(text.slice(1, at))) return undefined
      if (seen === 3) return text.slice(at + 1)
    }
  }
  return undefined
}

/** Whether a call of `awk` only prints. */
export function changesNothing(args: readonly Arg[]): boolean {
  const operands: Arg[] = []
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] as Arg
    if (arg.text === '--') continue
    // It may become several, and so the program.
    if (operands.length === 0 && (splits(arg) || (/^-[Fv]$/.test(arg.text) && splits(args[at + 1])))) return false
    if (operands.length === 0 && /^-[Fv]$/.test(arg.text)) at++
    else if (operands.length === 0 && /^-[Fv]./.test(arg.text)) continue
    else if (operands.length === 0 && arg.text.startsWith('-')) return false
    else operands.push(arg)
  }
  const [program] = operands
  if (program === undefined || program.dynamic) return false
  return awkOnlyPrints(program.text)
}

const splits = (arg: Arg | undefined): boolean =>
  arg?.pieces.some((one) => one.kind === 'glob' || (one.kind === 'unknown' && !one.quoted)) === true

/**
 * Where a `/` stands, a quote may be part of a pattern: then nothing is left out as a string, and any `>` is one.
 * Words need no space before them: `1system("x")`.
 */
export function awkOnlyPrints(program: string): boolean {
  // Whether a comment goes on after `\` at its end, programs differ.
  if (program.includes('#') && program.includes('\\\n')) return false
  const joined = program.replaceAll('\\\n', ' ')
  const code = joined.includes('/') ? joined : withoutStrings(joined)
  if (code === undefined || /system|getline|@|\||close|fflush/.test(code.replaceAll('||', ' '))) return false
  const compared = code.replaceAll('>=', ' ')
  if (joined.includes('/')) return !compared.includes('>')
  // A line may go on with the next: only these end a statement for certain.
  return compared.split(/[;}]/).every((part) => {
    const at = part.indexOf('print')
    return at === -1 || !part.includes('>', at)
  })
}

/** Undefined where a string does not end. */
function withoutStrings(code: string): string | undefined {
  const kept: string[] = []
  for (let at = 0; at < code.length; at++) {
    if (code[at] === '#') {
      while (at < code.length && code[at] !== '\n') at++
      kept.push('\n')
    } else if (code[at] === '"') {
      for (at++; code[at] !== '"'; at++) {
        if (code[at] === '\\') at++
        if (at >= code.length || code[at] === '\n') return undefined
      }
      kept.push('""')
    } else kept.push(code[at] as string)
  }
  return kept.join('')
}
