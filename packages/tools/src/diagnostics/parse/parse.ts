/** The findings in what a checker printed: compilers, linters and interpreters, each told by the shape of its lines. */
import { withoutColours } from '../colours.ts'
import type { Finding, Severity } from '../finding.ts'
import { parseJson } from './json.ts'
import { isPath, type Printed, parseLine, place, severityOf } from './line.ts'

export interface Parsed {
  readonly findings: readonly Finding[]
  /** Findings in files that do not lie in the workspace. */
  readonly outside: number
  /** There were more than are held. */
  readonly cut: boolean
}

/** The path as the workspace has it; undefined for one that lies elsewhere. */
export type Locate = (path: string, nameOnly: boolean) => string | undefined

/** Longer lines are data or minified code. */
const MAX_LINE = 2000
const MAX_MESSAGE = 300
/** More are of use to nobody. */
const MAX_FINDINGS = 5000

/** Never throws; takes time in proportion to the text. */
export function parseFindings(output: string, locate: Locate): Parsed {
  const findings: Finding[] = []
  let outside = 0
  let cut = false
  const add = ({ path, nameOnly = false, message, ...rest }: Printed): void => {
    const located = locate(path, nameOnly)
    if (located === undefined) outside++
    else if (findings.length >= MAX_FINDINGS) cut = true
    else findings.push({ ...rest, path: located, message: oneLine(message) })
  }
  const whole = parseJson(output)
  if (whole) for (const printed of whole) add(printed)
  else {
    const read = reader(add, (path) => locate(path, false) !== undefined)
    for (const line of output.split('\n')) {
      if (cut) break
      // A document after lines of its own.
      const document = parseJson(line)
      if (document) for (const printed of document) add(printed)
      else read(withoutColours(line.slice(0, MAX_LINE)).replace(/\r$/, ''))
    }
  }
  return { findings, outside, cut }
}

const oneLine = (text: string): string => {
  const clean = text.replace(/[\0-\x1f\x7f]+/g, ' ').trim()
  return clean.length > MAX_MESSAGE ? `${clean.slice(0, MAX_MESSAGE)}…` : clean
}

/** eslint's stylish format: `  1:7  error  Message  rule`, below the file's name. */
const STYLISH = /^\s+(\d+):(\d+)\s+(error|warning)\s+(\S.*)$/
/** rustc, ruff: the place below what is said of it. */
const ARROW = /^\s*--> (.+?):(\d+):(\d+)$/
const TITLE = /^(?:(error|warning)(?:\[(\w+)\])?: (.+)|([A-Z]+\d+|[a-z]+(?:-[a-z]+)*)(?: \[\*\]|:) (.+)|([A-Z]+\d+) (.+))$/
/** Python: the frames of a traceback, innermost last. */
const FRAME = /^\s*File "([^"]+)", line (\d+)/
/** Node: where a script is wrong, above the code. */
const SCRIPT = /^(?:file:\/\/)?([^:\s](?:[^:]|:(?=[\\/]))*):(\d+)$/
const THROWN = /^(?:[\w.]+\.)?([A-Za-z]*(?:Error|Exception|Warning))(?: \[\w+\])?: (.*)$/
/** `py_compile` of what is indented wrongly. */
const SORRY = /^(?:Sorry: )?(\w+Error): (.+) \(([^()]+), line (\d+)\)$/
const BIOME_MESSAGE = /^\s+([×!ℹi✖✘]) (.+)$/

/** Reads line after line; what it keeps is what the next lines may belong to. */
function reader(add: (printed: Printed) => void, isInside: (path: string) => boolean): (line: string) => void {
  let heading: string | undefined
  let title: Pick<Printed, 'severity' | 'message'> | undefined
  let biome: (Pick<Printed, 'path' | 'line' | 'column'> & { readonly rule: string }) | undefined
  let frames: Pick<Printed, 'path' | 'line'>[] = []

  return (line) => {
    const stylish = STYLISH.exec(line)
    if (heading !== undefined && stylish) return add(fromStylish(heading, stylish))

    const arrow = line.includes('-->') ? ARROW.exec(line) : null
    if (arrow) {
      if (title) add({ ...place(arrow[1] as string, arrow[2], arrow[3]), ...title })
      title = undefined
      return
    }
    const said = biome && BIOME_MESSAGE.exec(line)
    if (biome && said) {
      const { rule, ...at } = biome
      biome = undefined
      return add({ ...at, severity: biomeSeverity(said[1] as string), message: `${said[2]} (${rule})` })
    }
    if (line.startsWith('Traceback')) frames = []
    const frame = FRAME.exec(line) ?? SCRIPT.exec(line)
    if (frame && isPath(frame[1] as string)) {
      frames.push(place(frame[1] as string, frame[2]))
      return
    }
    const sorry = SORRY.exec(line)
    if (sorry) {
      const [, name, says, path, at] = sorry
      return add({ ...place(path as string, at), nameOnly: true, severity: 'error', message: `${name}: ${says}` })
    }
    const thrown = frames.length > 0 ? THROWN.exec(line) : null
    if (thrown) {
      // The library that threw is not to be changed; the workspace's own code that called it is.
      const at = frames.findLast(({ path }) => isInside(path)) ?? (frames.at(-1) as Pick<Printed, 'path' | 'line'>)
      frames = []
      return add({ ...at, severity: 'error', message: `${thrown[1]}: ${thrown[2]}` })
    }
    const printed = parseLine(line)
    if (printed) return add(printed)
    if (line.endsWith('━')) {
      biome = biomeHeading(line)
      return
    }
    if (/^\S/.test(line)) {
      title = titleOf(line)
      if (isPath(line)) heading = line
    }
  }
}

function fromStylish(path: string, [, line, column, kind, rest]: RegExpExecArray): Printed {
  const text = (rest as string).trimEnd()
  const gap = text.lastIndexOf('  ')
  const rule = gap === -1 ? '' : text.slice(gap + 2)
  const ruled = rule !== '' && !/\s/.test(rule)
  const message = ruled ? `${text.slice(0, gap).trimEnd()} (${rule})` : text
  return { ...place(path, line, column), severity: severityOf(kind as string), message }
}

function titleOf(line: string): Pick<Printed, 'severity' | 'message'> | undefined {
  const [, kind, code, says, rule, ruled, bare, of] = TITLE.exec(line) ?? []
  if (kind !== undefined) return { severity: severityOf(kind), message: code === undefined ? (says as string) : `${code}: ${says}` }
  const name = rule ?? bare
  return name === undefined || /^(?:note|help|hint|info)$/.test(name)
    ? undefined
    : { severity: /^W\d/.test(name) ? 'warning' : 'error', message: `${name} ${ruled ?? of}` }
}

/** `a.ts:4:1 lint/suspicious/noDebugger  FIXABLE  ━━━`; without a file it is a summary. */
function biomeHeading(line: string) {
  const words = line.replace(/━+$/, '').trimEnd().split(' ')
  while (/^[A-Z]*$/.test(words.at(-1) ?? 'x')) words.pop()
  const rule = words.pop()
  const [, path, row, column] = /^(.+?)(?::(\d+):(\d+))?$/.exec(words.join(' ').trim()) ?? []
  return rule === undefined || path === undefined || !isPath(path) ? undefined : { ...place(path, row, column), rule }
}

const biomeSeverity = (sign: string): Severity => (sign === '!' ? 'warning' : /[iℹ]/.test(sign) ? 'info' : 'error')
