/**
 * Finds keywords, strings and comments in code, line by line, with the parsers of CodeMirror. Each language is loaded when it is first
 * needed. Takes linear time: what the parsers could take long for stays plain.
 */
import { createRequire } from 'node:module'
import type { StreamParser, StringStream } from '@codemirror/streamparser'
import type { CodeKind } from './colors.ts'

/** A part of a line, and its kind, if it has one. */
export interface CodePart {
  readonly text: string
  readonly kind?: CodeKind | undefined
}

/** Maximum characters of a text, and of a line, that are parsed: within a line, parsers may take quadratic time. */
const MAX_TEXT = 20_000
const MAX_LINE = 240
/** Calls of a parser without progress after which a line is given up. */
const MAX_IDLE = 20

/** Languages: the module, its export, and the names and file extensions that mean it. */
const LANGUAGES: readonly (readonly [module: string, parser: string, names: string])[] = [
  ['clike', 'c', 'c h'],
  ['clike', 'cpp', 'cpp c++ cc cxx hpp hh hxx'],
  ['clike', 'csharp', 'cs csharp c#'],
  ['clike', 'dart', 'dart'],
  ['clike', 'java', 'java'],
  ['clike', 'kotlin', 'kt kts kotlin'],
  ['clike', 'objectiveC', 'm objc objective-c'],
  ['clike', 'scala', 'scala sc'],
  ['clojure', 'clojure', 'clj cljs clojure edn'],
  ['css', 'css', 'css'],
  ['css', 'less', 'less'],
  ['css', 'sCSS', 'scss'],
  ['dockerfile', 'dockerFile', 'dockerfile containerfile'],
  ['elm', 'elm', 'elm'],
  ['erlang', 'erlang', 'erl erlang'],
  ['go', 'go', 'go golang'],
  ['groovy', 'groovy', 'groovy gradle'],
  ['haskell', 'haskell', 'hs haskell'],
  ['javascript', 'javascript', 'js javascript jsx mjs cjs node'],
  ['javascript', 'json', 'json jsonc json5 jsonl'],
  ['javascript', 'typescript', 'ts typescript tsx mts cts'],
  ['julia', 'julia', 'jl julia'],
  ['lua', 'lua', 'lua'],
  ['nginx', 'nginx', 'nginx'],
  ['perl', 'perl', 'pl pm perl'],
  ['powershell', 'powerShell', 'ps1 psm1 powershell pwsh'],
  ['properties', 'properties', 'properties ini cfg conf env editorconfig'],
  ['protobuf', 'protobuf', 'proto protobuf'],
  ['python', 'python', 'py python pyi python3'],
  ['r', 'r', 'r'],
  ['ruby', 'ruby', 'rb ruby rake gemfile'],
  ['rust', 'rust', 'rs rust'],
  ['shell', 'shell', 'sh bash zsh shell console shellscript ksh'],
  ['sql', 'standardSQL', 'sql'],
  ['swift', 'swift', 'swift'],
  ['toml', 'toml', 'toml'],
  ['xml', 'html', 'html htm vue svelte'],
  ['xml', 'xml', 'xml svg xsd xsl plist csproj'],
  ['yaml', 'yaml', 'yaml yml'],
]

const BY_NAME = new Map(LANGUAGES.flatMap(([module, parser, names]) => names.split(' ').map((name) => [name, { module, parser }])))

/** What the parsers call the kinds. Everything else is plain. */
const KINDS: Readonly<Record<string, CodeKind>> = {
  ...{ keyword: 'keyword', controlKeyword: 'keyword', tag: 'keyword', tagName: 'keyword', typeName: 'type', type: 'type', builtin: 'type' },
  ...{ string: 'string', 'string-2': 'string', special: 'string', regexp: 'string', character: 'string', number: 'number', atom: 'number' },
  ...{ bool: 'number', unit: 'number', comment: 'comment', meta: 'comment', def: 'name', property: 'property', propertyName: 'property' },
  ...{ attribute: 'property', attributeName: 'property', standard: 'type', qualifier: 'property', header: 'keyword' },
}

const load = createRequire(import.meta.url)

/** Returns the language of a file, for {@link codeParts}. */
export function languageOf(path: string): string {
  const name = path.slice(path.search(/[^\\/]*$/)).toLowerCase()
  return name.slice(name.lastIndexOf('.') + 1)
}

/**
 * Returns the parts of each line. A line that is not parsed is one part.
 *
 * @param language a name or a file extension, as in the first word behind a fence
 */
export function codeParts(lines: readonly string[], language: string): readonly (readonly CodePart[])[] {
  const found = BY_NAME.get(/^[\w+#-]+/.exec(language)?.[0].toLowerCase() ?? '')
  if (!found || lines.reduce((sum, line) => sum + line.length + 1, 0) > MAX_TEXT) return lines.map((text) => [{ text }])
  const parser = (load(`@codemirror/legacy-modes/mode/${found.module}`) as Record<string, StreamParser<unknown>>)[found.parser]
  const { StringStream } = load('@codemirror/streamparser') as typeof import('@codemirror/streamparser')
  if (!parser) throw new Error(`${found.module} has no parser ${found.parser}`)
  const state = parser.startState?.(2) ?? {}
  return lines.map((text) => {
    if (text === '') parser.blankLine?.(state, 2)
    if (text === '' || text.length > MAX_LINE) return [{ text }]
    return partsOf(new StringStream(text, 4, 2), parser, state)
  })
}

function partsOf(stream: StringStream, parser: StreamParser<unknown>, state: unknown): readonly CodePart[] {
  const parts: CodePart[] = []
  let idle = 0
  while (!stream.eol() && idle < MAX_IDLE) {
    stream.start = stream.pos
    let kind: CodeKind | undefined
    try {
      kind = kindOf(parser.token(stream, state))
    } catch {
      // A parser that fails on a line, as on broken code, leaves the rest of it plain.
      idle = MAX_IDLE
    }
    if (stream.pos === stream.start) idle++
    else idle = 0
    const text = stream.current()
    const last = parts.at(-1)
    if (last && last.kind === kind) parts[parts.length - 1] = { text: last.text + text, kind }
    else if (text !== '') parts.push({ text, kind })
  }
  return stream.eol() ? parts : [...parts, { text: stream.string.slice(stream.pos) }]
}

function kindOf(style: string | null): CodeKind | undefined {
  for (const name of style?.split(/[ .]/) ?? []) if (KINDS[name]) return KINDS[name]
  return undefined
}
