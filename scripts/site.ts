/** `npm run site [FOLDER]`: builds the documentation as a static website. Default: `site/`. */
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { htmlPath, PAGES } from './site/pages.ts'
import { renderPage } from './site/render.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

export function buildSite(folder: string): void {
  const texts = new Map(PAGES.map((page) => [page, readFileSync(join(ROOT, page), 'utf8')]))
  const titleOf = (page: string): string => /^# (.+)$/m.exec(texts.get(page) ?? '')?.[1]?.replaceAll('`', '') ?? page
  for (const [page, markdown] of texts) {
    const file = join(folder, htmlPath(page))
    mkdirSync(dirname(file), { recursive: true })
    const html = renderPage(page, markdown, titleOf)
    writeFileSync(file, html)
    for (const linked of filesIn(page, html)) cpSync(join(ROOT, linked), join(folder, linked))
  }
  cpSync(join(ROOT, 'scripts', 'site', 'style.css'), join(folder, 'style.css'))
}

/** Files of the repository that pages link to, but that are not pages: examples, the license. */
const filesIn = (page: string, html: string): readonly string[] =>
  [...html.matchAll(/<a [^>]*href="([^"#:]+)/g)]
    .map(([, link = '']) => join(dirname(page), link))
    .filter((path) => !path.startsWith('..') && !path.endsWith('.html') && existsSync(join(ROOT, path)))

if (import.meta.main) {
  const folder = process.argv[2] ?? join(ROOT, 'site')
  buildSite(folder)
  console.log(`${PAGES.length} pages in ${folder}`)
}
