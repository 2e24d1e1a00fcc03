/** `npm run site [FOLDER]`: the documentation as a site of plain files. Default: `site/`. */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
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
    writeFileSync(file, renderPage(page, markdown, titleOf))
  }
  cpSync(join(ROOT, 'scripts', 'site', 'style.css'), join(folder, 'style.css'))
}

if (import.meta.main) {
  const folder = process.argv[2] ?? join(ROOT, 'site')
  buildSite(folder)
  console.log(`${PAGES.length} pages in ${folder}`)
}
