/** Extracts findings from the output of compilers, linters and interpreters, recognised by the format of their lines. Pure. */
import { withoutColours } from '../colours.ts'
import type { Finding, Severity } from '../finding.ts'

/** Maps a path to one relative to the workspace. Returns undefined for a path outside it. */
export type Locate = (path: string, nameOnly: boolean) => string | undefined

/** A finding as printed: the path is the check's own. With `nameOnly`, it is a file name without its folders. */
type Printed = Finding & { readonly nameOnly?: boolean }
type Groups = Readonly<Record<string, string | undefined>>

/** Longer lines are data or minified code. */
const MAX_LINE = 2000
const MAX_MESSAGE = 300
/** Findings beyond this number are no longer useful. */
const MAX_FINDINGS = 5000

/**
 * Parses output. Never throws; takes time proportional to the text.
 *
 * @returns the findings, the number of findings outside the workspace, and whether there were more than the limit
 */
export function parseFindings(output: string, locate: Locate) {
  const findings: Finding[] = []
  let outside = 0
  let cut = false
  const add = ({ path, nameOnly = false, message, ...rest }: Printed): void => {
    const located = locate(path, nameOnly)
    if (located === undefined) outside++
    else if (findings.length >= MAX_FINDINGS) cut = true
    else findings.push({ ...rest, path: located, message: oneLine(message) })
  }
  const read = reader(add, (path) => locate(path, false) !== undefined)
  const whole = parseJson(output)
  whole?.forEach(add)
  for (const line of whole ? [] : output.split('\n')) {
    if (cut) break
    // A JSON document after other lines.
    const document = parseJson(line)
    if (document) document.forEach(add)
    else read(withoutColours(line.slice(0, MAX_LINE)).replace(/\r$/, ''))
  }
  return { findings, outside, cut }
}

const oneLine = (text: string): string => {
  const clean = text.replace(/[\0-\x1f\x7f]+/g, ' ').trim()
  return clean.length > MAX_MESSAGE ? `${clean.slice(0, MAX_MESSAGE)}…` : clean
}

/** True for paths, as opposed to a time of day, a URL or a word before a colon. */
const isPath = (text = ''): boolean => /[./\\]/.test(text) && /[A-Za-z]/.test(text) && !/^\s|\s$|:\/\//.test(text)

const place = ({ path = '', line, column }: Groups): Pick<Printed, 'path' | 'line' | 'column'> => ({
  path,
  ...(line !== undefined && { line: Number(line) }),
  ...(column !== undefined && { column: Number(column) }),
})

const severityOf = (kind = ''): Severity => (/error/i.test(kind) ? 'error' : /warn/i.test(kind) ? 'warning' : 'info')
const ruled = (message: string, rule: string | undefined): string => (rule === undefined ? message : `${message} (${rule})`)

/** Apart from a drive letter, paths do not contain colons. */
const PATH = String.raw`(?<path>(?:[A-Za-z]:[\\/])?[^:]+)`
const SEVERE = [
  /** `a.ts(1,7): error TS2322: …`, and MSVC's format without a column. */
  /^(?<path>.+?)\((?<line>\d+)(?:,(?<column>\d+))?\): (?<kind>fatal error|error|warning|info|message) (?<says>.+)$/,
  /** `a.ts:1:7 - error TS2322: …`, from tsc and pyright. Without a severity it is a remark on the preceding finding. */
  new RegExp(
    String.raw`^\s*${PATH}:(?<line>\d+):(?<column>\d+) - (?<kind>error|warning|information|message)(?::| (?=TS\d))\s*(?<says>.+)$`,
  ),
]
/** `a.c:1:7: error: …`, and formats without a severity. */
const COLONS = new RegExp(String.raw`^(?:vet: )?${PATH}:(?<line>\d+)(?::(?<column>\d+))?: (?<says>.+)$`)
const KIND = /^(fatal error|error|warning|information|info|style|note|remark|help)(?:\[([\w:-]+)\])?: *(.*)$/i
/** `::error title=…,file=a.ts,line=1,col=7::…` */
const ANNOTATION = /^::(error|warning|notice) (.*?)::(.+)$/

/** Parses a finding printed on one line. */
function parseLine(line: string): Printed | undefined {
  const [, level, fields = '', message = ''] = (line.startsWith('::') && ANNOTATION.exec(line)) || []
  if (level !== undefined) {
    const { file, col, title, ...given }: Groups = Object.fromEntries(fields.split(',').map((field) => field.split('=')))
    const at = { path: file, line: given['line'], column: col }
    return file === undefined ? undefined : { ...place(at), severity: severityOf(level), message: ruled(message, title) }
  }
  const severe = SEVERE.map((one) => one.exec(line)?.groups as Groups | undefined).find((found) => isPath(found?.['path']))
  if (severe) return { ...place(severe), severity: severityOf(severe['kind']), message: (severe['says'] ?? '').replace(/^: /, '') }
  const found: Groups = COLONS.exec(line)?.groups ?? {}
  const { says = '' } = found
  if (!isPath(found['path'])) return undefined
  const [, kind, code, text = ''] = KIND.exec(says) ?? []
  // A compiler's note belongs to the preceding finding; a note from shellcheck is a finding.
  if (kind !== undefined && /^(?:note|remark|help)$/i.test(kind) && !/\[SC\d+\]$/.test(says)) return undefined
  if (kind !== undefined) return { ...place(found), severity: severityOf(kind), message: code === undefined ? text : `${code}: ${text}` }
  const isWarning = /\[Warning(?:\/[^[\]]*)?\]$/.test(says) || /^W\d+ /.test(says)
  return { ...place(found), severity: isWarning ? 'warning' : 'error', message: says }
}

/** eslint's stylish format: `  1:7  error  Message  rule`, below the file name. */
const STYLISH = /^\s+(?<line>\d+):(?<column>\d+)\s+(?<kind>error|warning)\s+(?<says>\S.*)$/
/** rustc and ruff print the place below the message. */
const ARROW = /^\s*--> (?<path>.+?):(?<line>\d+):(?<column>\d+)$/
const TITLE = /^(?:(error|warning)(?:\[(\w+)\])?: (.+)|([A-Z]+\d+|[a-z]+(?:-[a-z]+)*)(?: \[\*\]|:) (.+)|([A-Z]+\d+) (.+))$/
/** Frames of a Python traceback, innermost last. */
const FRAME = /^\s*File "(?<path>[^"]+)", line (?<line>\d+)/
/** Node prints the place of an error in a script above the code. */
const SCRIPT = /^(?:file:\/\/)?(?<path>[^:\s](?:[^:]|:(?=[\\/]))*):(?<line>\d+)$/
const THROWN = /^(?:[\w.]+\.)?([A-Za-z]*(?:Error|Exception|Warning))(?: \[\w+\])?: (.*)$/
/** `py_compile` on wrong indentation. */
const SORRY = /^(?:Sorry: )?(?<name>\w+Error): (?<says>.+) \((?<path>[^()]+), line (?<line>\d+)\)$/
const BIOME_MESSAGE = /^\s+([×!ℹi✖✘]) (.+)$/

/** Creates a parser for successive lines. It remembers what the following lines may refer to. */
function reader(add: (printed: Printed) => void, isInside: (path: string) => boolean): (line: string) => void {
  let heading: string | undefined
  let title: Pick<Printed, 'severity' | 'message'> | undefined
  let biome: (Pick<Printed, 'path' | 'line' | 'column'> & { readonly rule: string }) | undefined
  let frames: Pick<Printed, 'path' | 'line'>[] = []

  return (line) => {
    const stylish: Groups | undefined = heading === undefined ? undefined : STYLISH.exec(line)?.groups
    if (stylish) {
      const [, message, rule] = /^(.*\S)\s{2,}(\S+)$/.exec(stylish['says']?.trimEnd() ?? '') ?? [undefined, stylish['says']?.trimEnd()]
      return add({ ...place({ ...stylish, path: heading }), severity: severityOf(stylish['kind']), message: ruled(message ?? '', rule) })
    }
    const arrow = line.includes('-->') ? ARROW.exec(line)?.groups : undefined
    if (arrow) {
      if (title) add({ ...place(arrow), ...title })
      title = undefined
      return
    }
    const [, sign = '', said] = (biome && BIOME_MESSAGE.exec(line)) || []
    if (biome && said !== undefined) {
      const { rule, ...at } = biome
      biome = undefined
      return add({ ...at, severity: sign === '!' ? 'warning' : /[iℹ]/.test(sign) ? 'info' : 'error', message: ruled(said, rule) })
    }
    if (line.startsWith('Traceback')) frames = []
    const frame = (FRAME.exec(line) ?? SCRIPT.exec(line))?.groups
    if (frame && isPath(frame['path'])) {
      frames.push(place(frame))
      return
    }
    const sorry = SORRY.exec(line)?.groups
    if (sorry) return add({ ...place(sorry), nameOnly: true, severity: 'error', message: `${sorry['name']}: ${sorry['says']}` })
    const thrown = frames.length > 0 ? THROWN.exec(line) : null
    if (thrown) {
      // Report the workspace's own code that made the call, not the library that threw.
      const at = frames.findLast(({ path }) => isInside(path)) ?? (frames.at(-1) as Pick<Printed, 'path' | 'line'>)
      frames = []
      return add({ ...at, severity: 'error', message: `${thrown[1]}: ${thrown[2]}` })
    }
    const printed = parseLine(line)
    if (printed) return add(printed)
    if (line.endsWith('━')) biome = biomeHeading(line)
    else if (/^\S/.test(line)) {
      title = titleOf(line)
      if (isPath(line)) heading = line
    }
  }
}

function titleOf(line: string): Pick<Printed, 'severity' | 'message'> | undefined {
  const [, kind, code, says = '', rule, rules, bare, bares] = TITLE.exec(line) ?? []
  if (kind !== undefined) return { severity: severityOf(kind), message: code === undefined ? says : `${code}: ${says}` }
  const name = rule ?? bare
  if (name === undefined || /^(?:note|help|hint|info)$/.test(name)) return undefined
  return { severity: /^W\d/.test(name) ? 'warning' : 'error', message: `${name} ${rules ?? bares}` }
}

/** Parses `a.ts:4:1 lint/suspicious/noDebugger  FIXABLE  ━━━`. Without a file it is a summary. */
function biomeHeading(line: string) {
  const words = line.replace(/━+$/, '').trimEnd().split(' ')
  while (/^[A-Z]*$/.test(words.at(-1) ?? 'x')) words.pop()
  const rule = words.pop()
  const found = /^(?<path>.+?)(?::(?<line>\d+):(?<column>\d+))?$/.exec(words.join(' ').trim())?.groups
  return rule === undefined || !found || !isPath(found['path']) ? undefined : { ...place(found), rule }
}

/** Parses a JSON document from eslint, biome, ruff, pyright or shellcheck. Returns undefined for anything else. */
function parseJson(text: string): Printed[] | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined
  let document: unknown
  try {
    document = JSON.parse(text)
  } catch {
    return undefined
  }
  const inside = ['diagnostics', 'generalDiagnostics', 'comments', 'results'].map((name) => record(document)[name])
  const list: unknown[] | undefined = [document, ...inside].find(Array.isArray)
  return list?.flatMap((entry) => {
    const { filePath, messages } = record(entry)
    // eslint: a list per file.
    const each = Array.isArray(messages) ? messages.map((one) => ({ ...record(one), file: filePath })) : [record(entry)]
    return each.flatMap(inDocument)
  })
}

type Fields = Readonly<Record<string, unknown>>
const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null
const record = (value: unknown): Fields => (isFields(value) ? value : {})

/** Reads one finding; the tools use different field names. */
function inDocument(one: Fields): Printed[] {
  const location = record(one['location'])
  const range = isFields(one['range']) ? one['range'] : undefined
  const start = [location['start'], range?.['start']].find(isFields) ?? location
  const text = (values: readonly unknown[]): string | undefined => values.find((value) => typeof value === 'string')
  const path = text([one['file'], one['filename'], location['path']])
  const message = text([one['message']])
  if (path === undefined || message === undefined) return []
  // Positions in `range` follow the language server protocol, which counts from 0.
  const number = (values: readonly unknown[]): string | undefined => {
    const value = values.find((each) => each !== undefined && each !== null)
    return Number.isInteger(value) ? String((value as number) + (range ? 1 : 0)) : undefined
  }
  const line = number([one['line'], start['line'], start['row']])
  const column = number([one['column'], start['column'], start['character']])
  const rule = text([one['ruleId'], one['code'], one['rule'], one['category']])
  const level = one['severity'] ?? one['level'] ?? 'error'
  const severity = typeof level === 'number' ? (level === 1 ? 'warning' : 'error') : severityOf(String(level))
  return [{ ...place({ path, line, column }), severity, message: ruled(message, rule) }]
}
