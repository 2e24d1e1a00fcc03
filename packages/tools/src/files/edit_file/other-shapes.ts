/** Converts the edit calls of other agents to `{ path, edits: [{ old_text, new_text, replace_all }] }`. Pure. */

const SPELLINGS = {
  old_text: ['old_text', 'old_str', 'old_string', 'oldText', 'oldString', 'search', 'TargetContent'],
  new_text: ['new_text', 'new_str', 'new_string', 'newText', 'newString', 'replace', 'replacement', 'ReplacementContent'],
  replace_all: ['replace_all', 'replaceAll', 'allow_multiple', 'AllowMultiple'],
}
const NAMES = new Map(Object.entries(SPELLINGS).flatMap(([name, spellings]) => spellings.map((one) => [one, name])))

const LISTS: ReadonlySet<string> = new Set(['edits', 'ReplacementChunks'])

/** Keeps an `edits` list and renames its fields. Without one, the fields beside `path` become a list with one edit. */
export function fromOtherShapes({ command, dryRun, expected_replacements, ...given }: Record<string, unknown>): Record<string, unknown> {
  const input = {
    ...given,
    // Fields of a tool that handles all file operations, and of one with a dry-run mode.
    ...(command !== undefined && command !== 'str_replace' && { command }),
    ...(dryRun !== undefined && dryRun !== false && { dryRun }),
    ...(Number(expected_replacements) > 1 && { replace_all: true }),
  }
  const list = Object.keys(input).find((name) => LISTS.has(name))
  if (list !== undefined) {
    const { [list]: edits, ...rest } = input as Record<string, unknown>
    return { ...rest, edits: Array.isArray(edits) ? edits.map((edit) => (isRecord(edit) ? rename(edit).edit : edit)) : edits }
  }
  const { edit, rest } = rename(input)
  return Object.keys(edit).length === 0 ? rest : { ...rest, edits: [edit] }
}

function rename(input: Record<string, unknown>): { edit: Record<string, unknown>; rest: Record<string, unknown> } {
  const edit: Record<string, unknown> = {}
  const rest: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(input)) {
    const name = NAMES.get(key)
    if (name) edit[name] = value
    else rest[key] = value
  }
  return { edit, rest }
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)
