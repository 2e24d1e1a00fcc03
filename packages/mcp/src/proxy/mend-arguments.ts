/** Mends arguments beyond what the engine repairs, because a proxy can't ask a person. Pure. */
import { type Issue, isRecord, type JsonSchema, pathText, type Repair, validateJson, withPath } from '@mulligan/repair'
import type { ListedTool } from './catalog.ts'

type Path = Issue['path']

/** Rounds of corrections: each can show what is wrong inside what it corrected. */
const MAX_ROUNDS = 4

/**
 * Takes the only item out of a list, puts one item into a list, gathers the keys of an item that were sent in place of it, and corrects
 * case and separators of a choice, where nothing else can be meant.
 */
export function mendedArguments(tool: ListedTool, input: Record<string, unknown>, repairs: readonly Repair[]) {
  const schema = tool.parameters ?? {}
  const made: Repair[] = []
  const whole = gathered(schema, input)
  if (whole) made.push(whole.repair)
  let fixed: unknown = whole?.input ?? input
  for (let round = 0, before: unknown; round < MAX_ROUNDS && before !== fixed; round++) {
    before = fixed
    for (const issue of validateJson(schema, fixed)) {
      const { path, value } = issue
      const parameter = pathText(path)
      for (const [to, why] of corrections(issue)) {
        const other = withPath(fixed, path, to)
        if (validateJson(schema, other).some((still) => pathText(still.path) === parameter)) continue
        fixed = other
        made.push({ kind: 'type', parameter, from: value, to, why })
        break
      }
    }
  }
  return { input: fixed as Record<string, unknown>, repairs: [...repairs, ...made] }
}

type Correction = readonly [to: unknown, why: string]

function corrections({ keyword, path, value, candidates = [], suggestion }: Issue): readonly Correction[] {
  if (path.length === 0 || value === undefined || keyword === 'required') return []
  if (Array.isArray(value)) return value.length === 1 ? [[value[0], 'a list with one item']] : []
  if (keyword !== 'enum') return value === null ? [] : [[[value], 'a single value where a list belongs']]
  if (typeof value !== 'string' || plain(value) === '') return []
  const same = [...new Set([suggestion, ...candidates])].filter((one) => one !== undefined && plain(one) === plain(value))
  return same.length === 1 ? [[same[0], 'the same but for case and separators']] : []
}

/** Puts the keys of an object into it, which were sent beside its name: `{path, oldText, newText}` for `{path, edits: [{oldText, newText}]}`. */
function gathered(schema: JsonSchema, input: Record<string, unknown>): { readonly input: object; readonly repair: Repair } | undefined {
  const issues = validateJson(schema, input).filter(({ path }) => path.length === 1)
  const [missing, ...others] = issues.filter(({ keyword }) => keyword === 'required')
  const key = missing?.path[0]
  const keys = issues.flatMap(({ unknownKey }) => unknownKey ?? [])
  if (typeof key !== 'string' || others.length > 0 || keys.length === 0) return undefined
  const isIn = (one: string): boolean => keys.includes(one)
  const inner = Object.fromEntries(Object.entries(input).filter(([one]) => isIn(one)))
  const beside = Object.fromEntries(Object.entries(input).filter(([one]) => !isIn(one)))
  for (const to of [[inner], inner]) {
    const whole = { ...beside, [key]: to }
    const fits = validateJson(schema, whole).every(
      ({ path, keyword, unknownKey }) => path[0] !== key || (path.length > 2 && keyword !== 'required' && unknownKey === undefined),
    )
    if (fits && isRecord(keysOf(schema, key)))
      return { input: whole, repair: { kind: 'wrapped', parameter: key, from: inner, to, why: 'its keys were sent in place of it' } }
  }
  return undefined
}

/** The declared keys of a parameter, or of the items of its list. */
function keysOf({ properties }: JsonSchema, key: string): unknown {
  const one = isRecord(properties) ? properties[key] : undefined
  if (!isRecord(one)) return undefined
  return isRecord(one['items']) ? one['items']['properties'] : one['properties']
}

const plain = (text: unknown): string =>
  String(text)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '')

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
