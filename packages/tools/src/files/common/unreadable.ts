const SHOWN = 3

/** What ripgrep could not read, from its error text, as notes: a search that skipped files must say so. */
export function unreadable(stderr: string): string[] {
  const failed = stderr.matchAll(/^rg: (.+?): .*\(os error \d+\)$/gm)
  const paths = [...new Set(Array.from(failed, (match) => (match[1] as string).replace(/^\.\//, '')))]
  if (paths.length === 0) return []
  const named = paths.slice(0, SHOWN).map((path) => `"${path}"`)
  return [`Partial: ${paths.length} could not be read: ${named.join(', ')}${paths.length > SHOWN ? ' and others' : ''}.`]
}
