/** Texts of services in lists and Markdown. They are untrusted. */

/** Puts a text on one line and shortens it. */
export function oneLine(text: string, chars = 300): string {
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()
  return line.length > chars ? `${line.slice(0, chars).replace(/[\ud800-\udbff]$/, '')}…` : line
}

/** Escapes a text for Markdown, on one line. */
export const inMarkdown = (text: string, chars?: number): string => oneLine(text, chars).replace(/[\\`*_[\]<>|!]/g, '\\$&')

/** A Markdown link; without an address that a browser opens, the text alone. */
export function link(text: string, url: string | null | undefined): string {
  const address = url ? URL.parse(url) : null
  if (address === null || !/^(?:https?|mailto|slack):$/.test(address.protocol)) return inMarkdown(text)
  return `[${inMarkdown(text)}](${address.href.replace(/[()]/g, (one) => (one === '(' ? '%28' : '%29'))})`
}

export const plural = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`

/** What a person is shown of a message before it leaves: a unified diff that adds it. */
export const asAdded = (title: string, text: string): string => {
  const lines = text.split('\n')
  return `--- /dev/null\n+++ ${oneLine(title)}\n@@ -0,0 +1,${lines.length} @@\n${lines.map((line) => `+${line}`).join('\n')}\n`
}
