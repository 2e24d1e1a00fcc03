/** Mends arguments beyond what the engine repairs, because a proxy can't ask a person, and says what was meant. Pure. */
import { type Issue, isRecord, type JsonSchema, nearest, pathText, type Repair, validateJson, withPath } from '@mulligan/repair'
import type { ListedTool } from './catalog.ts'

type Path = Issue['path']

/** Takes the only item out of a list, and corrects case and separators of a choice, where nothing else can be meant. */
export function mendedArguments(tool: ListedTool, input: Record<string, unknown>, repairs: readonly Repair[]) {
  const schema = tool.parameters ?? {}
  let fixed: unknown = input
  const made: Repair[] = []
  for (const issue of validateJson(schema, input)) {
    const { path, value } = issue
    const [to, why] = only(value) ?? sameChoice(issue) ?? []
    if (why === undefined) continue
    const parameter = pathText(path)
    const other = withPath(fixed, path, to)
    if (validateJson(schema, other).some((still) => pathText(still.path) === parameter)) continue
    fixed = other
    made.push({ kind: 'type', parameter, from: value, to, why })
  }
  return { input: fixed as Record<string, unknown>, repairs: [...repairs, ...made] }
}

const only = (value: unknown): readonly [unknown, string] | undefined =>
  Array.isArray(value) && value.length === 1 ? [value[0], 'a list with one item'] : undefined

const plain = (text: unknown): string =>
  String(text)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '')

function sameChoice({ keyword, value, candidates = [], suggestion }: Issue): readonly [unknown, string] | undefined {
  if (keyword !== 'enum' || typeof value !== 'string' || plain(value) === '') return undefined
  const same = [...new Set([suggestion, ...candidates])].filter((one) => one !== undefined && plain(one) === plain(value))
  return same.length === 1 ? [same[0], 'the same but for case and separators'] : undefined
}

/** A key that is unknown where exactly one is missing is probably that one. Only said, not sent. */
export function withMeant(issues: readonly Issue[]): readonly Issue[] {
  const parentOf = ({ path }: Issue): string => pathText(path.slice(0, -1))
  return issues.map((issue) => {
    if (issue.unknownKey === undefined || issue.meantKey !== undefined) return issue
    const beside = issues.filter((one) => parentOf(one) === parentOf(issue))
    const [missing, ...others] = beside.filter(({ keyword }) => keyword === 'required')
    const key = missing?.path.at(-1)
    const isOnly = others.length === 0 && beside.filter((one) => one.unknownKey !== undefined).length === 1
    return isOnly && typeof key === 'string' ? { ...issue, meantKey: key } : issue
  })
}

export function unknownNote({ unknownKey = '', meantKey, path = [] }: Partial<Issue>, { name, schema = {} }: ListedTool): string {
  const parent = path.slice(0, -1)
  const declared = keysAt(schema, parent)
  const meant = meantKey ?? nearest(unknownKey, declared, 1)[0] ?? similar(unknownKey, declared)
  const says =
    parent.length === 0
      ? `${name} has no parameter "${unknownKey}", so it had no effect`
      : `"${pathText(parent)}" of ${name} has no "${unknownKey}", so it probably had no effect`
  return meant === undefined
    ? `${says}; ${declared.length > 0 ? `it has ${declared.map((one) => `"${one}"`).join(', ')}` : 'it has no parameters'}.`
    : `${says}; did you mean "${meant}"?`
}

/** The keys that a schema declares at a place. */
function keysAt(schema: unknown, path: Path): readonly string[] {
  if (!isRecord(schema)) return []
  const [step, ...rest] = path
  const { properties, items } = schema
  if (step === undefined) return isRecord(properties) ? Object.keys(properties) : []
  return keysAt(typeof step === 'number' ? items : isRecord(properties) ? properties[step] : undefined, rest)
}

/** Names that tools use for the same thing. */
const SYNONYMS: readonly (readonly string[])[] = [
  [
    'limit',
    'max_results',
    'maxResults',
    'count',
    'n',
    'top',
    'head',
    'pageSize',
    'page_size',
    'per_page',
    'size',
    'maxLines',
    'lines',
    'max_count',
  ],
  ['offset', 'skip', 'start', 'from', 'cursor', 'page', 'start_index'],
  ['path', 'file', 'file_path', 'filePath', 'filename', 'filepath', 'uri', 'directory', 'dir', 'folder'],
  ['query', 'q', 'search', 'text', 'pattern', 'term', 'keyword', 'sql'],
  ['content', 'contents', 'text', 'body', 'data', 'message', 'value'],
  ['timezone', 'tz', 'time_zone', 'zone'],
  ['url', 'uri', 'link', 'href', 'address'],
  ['time', 'seconds', 'duration', 'timeout', 'wait'],
]

/** Returns the one declared parameter that tools elsewhere use for the same thing. */
function similar(key: string, declared: readonly string[]): string | undefined {
  const lower = key.toLowerCase()
  const group = SYNONYMS.filter((names) => names.some((one) => one.toLowerCase() === lower)).flat()
  const [one, ...more] = declared.filter((name) => group.includes(name))
  return more.length === 0 ? one : undefined
}

/** What texts with a format look like. Servers differ in whether they check it, so that a text is not refused for it. */
const FORMATS: Readonly<Record<string, readonly [matches: RegExp, says: string]>> = {
  'date-time': [
    /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)$/i,
    'a date with time and zone, such as 2026-01-31T09:30:00Z',
  ],
  date: [/^\d{4}-\d\d-\d\d$/, 'a date such as 2026-01-31'],
  time: [/^\d\d:\d\d(?::\d\d)?/, 'a time such as 09:30:00'],
  uri: [/^[a-z][a-z\d+.-]*:\S+$/i, 'an address with its scheme, such as https://example.com'],
  url: [/^[a-z][a-z\d+.-]*:\S+$/i, 'an address with its scheme, such as https://example.com'],
  uuid: [/^[\da-f]{8}(?:-?[\da-f]{4}){3}-?[\da-f]{12}$/i, 'a UUID such as 59833787-2cf9-4fdf-8782-e53db20768a5'],
  email: [/^[^\s@]+@[^\s@]+$/, 'an email address'],
}

/** Says which texts do not have the format that the schema names. */
export function formatHints(schema: JsonSchema | undefined, value: unknown, path: Path = []): readonly string[] {
  if (!isRecord(schema)) return []
  const { format, properties, items } = schema
  if (typeof value === 'string') {
    const known = typeof format === 'string' ? FORMATS[format] : undefined
    return known && !known[0].test(value) ? [`"${pathText(path)}" should be ${known[1]}.`] : []
  }
  if (Array.isArray(value)) return value.flatMap((one, at) => formatHints(items as JsonSchema, one, [...path, at]))
  if (!isRecord(value) || !isRecord(properties)) return []
  return Object.entries(value).flatMap(([key, one]) => formatHints(properties[key] as JsonSchema, one, [...path, key]))
}
