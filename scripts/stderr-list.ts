/** The lines of `text` that match no pattern of the list. `#` begins a comment in the list. */
export function unexpected(text: string, list: string): string[] {
  const patterns = list
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => new RegExp(line))
  return text
    .split(/\r?\n/)
    .slice(0, text.endsWith('\n') ? -1 : undefined)
    .filter((line) => !patterns.some((pattern) => pattern.test(line)))
}
