/** Markdown that an editor shows of foreign text. */
import { oneLine, safeJson, visible } from '@mulligan/host/light'

/** Fences a text with more backticks than any run in it, so that it can't end the fence and be read as Markdown. */
export function fenced(text: string, language = ''): string {
  const longest = Math.max(2, ...(text.match(/`{3,}/g) ?? []).map((run) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${text}${text.endsWith('\n') ? '' : '\n'}${fence}`
}

/** Shows the exact input of a call, invisible characters included, long texts apart. */
export function inputText(input: Readonly<Record<string, unknown>>): string {
  const lines = Object.entries(input).map(([key, value]) => {
    const text = typeof value === 'string' ? visible(value) : safeJson(value, 2)
    return `${oneLine(key, 64)}:\n${text}`
  })
  return fenced(lines.join('\n'))
}
