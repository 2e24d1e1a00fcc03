/** Renders a page of the documentation as HTML, without scripts or external requests, in the reader's light or dark mode. */
import { dirname, join, relative } from 'node:path/posix'
import { Marked, type Tokens } from 'marked'
import { htmlPath, PAGES, SECTIONS } from './pages.ts'

/** @param titleOf the first heading of a page */
export function renderPage(page: string, markdown: string, titleOf: (page: string) => string): string {
  const folder = dirname(htmlPath(page))
  const linkTo = (other: string): string => relative(folder, htmlPath(other)) || '.'
  const nav = SECTIONS.map(({ title, pages }) => {
    const items = pages.map((one) => {
      const here = one === page ? ' aria-current="page"' : ''
      return `<li><a href="${linkTo(one)}"${here}>${escaped(titleOf(one))}</a></li>`
    })
    return `<h2>${escaped(title)}</h2><ul>${items.join('')}</ul>`
  })
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'self'; img-src 'self'">
<title>${escaped(titleOf(page))}${page === 'README.md' ? '' : ' · Mulligan'}</title>
<link rel="stylesheet" href="${relative(folder, 'style.css')}">
</head>
<body>
<a class="skip" href="#content">To the text</a>
<nav aria-label="Pages">${nav.join('')}</nav>
<main id="content">
${bodyOf(page, markdown, linkTo)}
</main>
</body>
</html>
`
}

function bodyOf(page: string, markdown: string, linkTo: (other: string) => string): string {
  const taken = new Map<string, number>()
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading): string {
        const id = slug(text, taken)
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`
      },
      link({ href, tokens }: Tokens.Link): string {
        return `<a href="${escaped(linkOf(page, href, linkTo))}">${this.parser.parseInline(tokens)}</a>`
      },
      table(token: Tokens.Table): string {
        const row = (cells: readonly Tokens.TableCell[], tag: string): string =>
          `<tr>${cells.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('')}</tr>`
        const body = token.rows.map((cells) => row(cells, 'td')).join('\n')
        return `<div class="wide"><table><thead>${row(token.header, 'th')}</thead><tbody>${body}</tbody></table></div>\n`
      },
    },
  })
  return marked.parse(markdown, { async: false })
}

/** A link to another page leads to its HTML; a link to another file stays as it is, for readers of a clone. */
function linkOf(page: string, href: string, linkTo: (other: string) => string): string {
  if (/^(?:[a-z]+:|#)/i.test(href)) return href
  const [path = '', anchor] = href.split('#')
  const target = join(dirname(page), path)
  return PAGES.includes(target) ? linkTo(target) + (anchor === undefined ? '' : `#${anchor}`) : href
}

/** As on code hosts: lower case, hyphens for spaces, no other punctuation, and a number if the same anchor occurs again. */
export function slug(heading: string, taken: Map<string, number>): string {
  const base = heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')
  const times = taken.get(base) ?? 0
  taken.set(base, times + 1)
  return times === 0 ? base : `${base}-${times}`
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
