/** Says what was meant by a key that a tool does not know. Pure. */
import { type Issue, isRecord, type JsonSchema, nearest, pathText } from '@mulligan/repair'
import type { ListedTool } from './catalog.ts'

type Path = Issue['path']

/** Adds to each unknown key the declared one that was probably meant. Only said, not sent. */
export function withMeant(issues: readonly Issue[], input: unknown, { schema = {} }: ListedTool): readonly Issue[] {
  const told = issues.map((issue): Issue => {
    if (issue.unknownKey === undefined) return issue
    const parent = issue.path.slice(0, -1)
    const beside = issues.filter(({ path }) => pathText(path.slice(0, -1)) === pathText(parent))
    const missing = beside.flatMap(({ keyword, path }) => (keyword === 'required' ? [String(path.at(-1))] : []))
    const isOnly = missing.length === 1 && beside.filter(({ unknownKey }) => unknownKey !== undefined).length === 1
    const { meantKey: _, ...rest } = issue
    const meantKey =
      meant(issue.unknownKey, schema, parent, input) ?? similar(issue.unknownKey, missing) ?? (isOnly ? missing[0] : undefined)
    return meantKey === undefined ? rest : { ...rest, meantKey }
  })
  // Two keys can't both be the same one.
  const count = (issue: Issue): number => told.filter((one) => isSame(one, issue)).length
  return told.map((issue) => {
    if (issue.meantKey === undefined || count(issue) === 1) return issue
    const { meantKey: _, ...rest } = issue
    return rest
  })
}

const isSame = (a: Issue, b: Issue): boolean => a.meantKey === b.meantKey && pathText(a.path.slice(0, -1)) === pathText(b.path.slice(0, -1))

export function unknownNote({ unknownKey = '', path = [] }: Partial<Issue>, { name, schema = {} }: ListedTool, input: unknown): string {
  const parent = path.slice(0, -1)
  const declared = keysAt(schema, parent)
  const key = meant(unknownKey, schema, parent, input)
  const says =
    parent.length === 0
      ? `${name} has no parameter "${unknownKey}", so it had no effect`
      : `"${pathText(parent)}" of ${name} has no "${unknownKey}", so it probably had no effect`
  return key === undefined
    ? `${says}; ${declared.length > 0 ? `it has ${declared.map((one) => `"${one}"`).join(', ')}` : 'it has no parameters'}.`
    : `${says}; did you mean "${key}"?`
}

/** The declared key that was not given and is like this one, or is used for the same thing elsewhere. */
function meant(key: string, schema: JsonSchema, parent: Path, input: unknown): string | undefined {
  const given = parent.reduce<unknown>(
    (value, step) => (isRecord(value) || Array.isArray(value) ? (value as never)[step] : undefined),
    input,
  )
  const free = keysAt(schema, parent).filter((one) => !isRecord(given) || !Object.hasOwn(given, one))
  // A single letter is near any other.
  return (key.length > 1 ? nearest(key, free, 1)[0] : undefined) ?? similar(key, free)
}

/** The keys that a schema declares at a place. */
function keysAt(schema: unknown, path: Path): readonly string[] {
  if (!isRecord(schema)) return []
  const [step, ...rest] = path
  const { properties, items } = schema
  if (step === undefined) return isRecord(properties) ? Object.keys(properties) : []
  return keysAt(typeof step === 'number' ? items : isRecord(properties) ? properties[step] : undefined, rest)
}

/** Names that tools use for the same thing, without case and separators. */
const SYNONYMS = [
  'limit maxresults count n top head pagesize perpage size maxlines lines maxcount num',
  'offset skip start from cursor page startindex',
  'path file filepath filename uri directory dir folder cwd repopath',
  'paths files filepaths filenames',
  'query q search text pattern term keyword sql',
  'content contents text body data message value',
  'body description content details',
  'title name subject summary',
  'timezone tz zone',
  'url uri link href address',
  'time seconds duration timeout wait timeoutms',
  'source from src origin sourcepath',
  'destination to dest dst target destinationpath',
  'branch ref revision rev sha commit',
  'oldtext oldstring oldstr search find',
  'newtext newstring newstr replace replacement',
  'command cmd script code',
  'number issue issuenumber pullnumber pr id',
  'repo repository project',
  'owner org organization user username',
].map((names) => names.split(' '))

const bare = (name: string): string => name.toLowerCase().replace(/[^a-z\d]/g, '')

/** Returns the one declared parameter that tools elsewhere use for the same thing. */
function similar(key: string, declared: readonly string[]): string | undefined {
  const group = SYNONYMS.filter((names) => names.includes(bare(key))).flat()
  const [one, ...more] = declared.filter((name) => group.includes(bare(name)))
  return more.length === 0 ? one : undefined
}
