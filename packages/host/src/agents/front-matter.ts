/** In characters. Parsing time grows out of proportion for long or nested text, and a project's files are read at every start. */
const MAX_CHARACTERS = 8000
const MAX_BRACKETS = 50
const MAX_EXPLICIT_KEYS = 3

const BLOCK = /^---[ \t]*\n([\s\S]*?)(?:^|\n)---[ \t]*(?:\n|$)/

/**
 * Splits off and parses YAML front matter.
 * @param isLenient whether lines of what is not YAML are read as texts: `argument-hint: [FROM] [TO]`. Default false
 * @throws Error with one sentence if there is front matter but it is not valid
 */
export async function frontMatter(
  text: string,
  isLenient = false,
): Promise<{ readonly fields: Readonly<Record<string, unknown>>; readonly body: string }> {
  const [block, yaml] = BLOCK.exec(text) ?? []
  if (block === undefined || yaml === undefined) return { fields: {}, body: text.trim() }
  if (isHeavy(yaml)) throw new Error('its front matter is too long or too deeply nested')
  const { parse } = await import('yaml')
  let fields: unknown
  try {
    fields = parse(yaml, { maxAliasCount: 10, logLevel: 'error' }) ?? {}
  } catch (error) {
    if (!isLenient) throw error
    fields = Object.fromEntries([...yaml.matchAll(LINE)].map(([, key, value]) => [key, value]))
  }
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields))
    throw new Error('its front matter must be a list of "key: value"')
  return { fields: fields as Record<string, unknown>, body: text.slice(block.length).trim() }
}

/** A line of what is not YAML. */
const LINE = /^([\w-]+):[ \t]*(\S.*?)[ \t]*$/gm

const isHeavy = (yaml: string): boolean =>
  yaml.length > MAX_CHARACTERS || count(yaml, /[[{]/g) > MAX_BRACKETS || count(yaml, /(?<=^|[\s[{,])\?(?=\s|$)/gm) > MAX_EXPLICIT_KEYS

const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0
