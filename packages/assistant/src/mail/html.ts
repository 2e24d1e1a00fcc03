/** Turns the HTML of a message into text. */
export async function textOfHtml(html: string): Promise<string> {
  const { convert } = await import('html-to-text')
  const text = convert(html, {
    wordwrap: false,
    limits: { maxInputLength: 2_000_000, maxDepth: 50 },
    selectors: [
      { selector: 'img', format: 'skip' },
      { selector: 'a', options: { hideLinkHrefIfSameAsText: true } },
    ],
  })
  return text.replace(/\u00a0/g, ' ')
}
