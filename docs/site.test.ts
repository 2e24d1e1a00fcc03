/** The site: every page is in it, and every link in it leads somewhere. */
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { htmlPath, PAGES } from '../scripts/site/pages.ts'
import { renderPage, slug } from '../scripts/site/render.ts'
import { buildSite } from '../scripts/site.ts'
import { ROOT } from './run.fixture.ts'

const folder = mkdtempSync(join(tmpdir(), 'mulligan-site-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
buildSite(folder)

const idsOf = (html: string): Set<string> => new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id as string))

/** Links of a page that lead nowhere. */
function deadLinks(page: string, html: string): string[] {
  const links = [...html.matchAll(/<a [^>]*href="([^"]*)"/g)].map(([, link]) => link as string).filter((link) => !/^[a-z]+:/.test(link))
  return links.filter((link) => {
    const [path = '', anchor] = link.split('#')
    const file = path === '' ? join(folder, htmlPath(page)) : join(folder, dirname(htmlPath(page)), path)
    if (!existsSync(file)) return true
    return anchor !== undefined && file.endsWith('.html') && !idsOf(readFileSync(file, 'utf8')).has(anchor)
  })
}

it('has every page of the documentation', () => {
  expect(globSync('docs/**/*.md', { cwd: ROOT }).sort()).toEqual(PAGES.filter((page) => page.startsWith('docs/')).sort())
})

it.each(PAGES)('%s: every link leads somewhere, and it asks for nothing from elsewhere', (page) => {
  const html = readFileSync(join(folder, htmlPath(page)), 'utf8')
  expect(deadLinks(page, html)).toEqual([])
  expect(html).toContain("default-src 'none'")
  expect(html).not.toMatch(/<script|<img [^>]*src="http|style="/)
})

it('a link that leads nowhere is noticed', () => {
  const html = renderPage('docs/cli.md', '[a](nowhere.md) [b](tools.md#no-such-heading) [c](tools.md)', (page) => page)
  expect(deadLinks('docs/cli.md', html)).toEqual(['nowhere.md', 'tools.html#no-such-heading'])
})

it('headings have the anchors that code hosts give them', () => {
  const taken = new Map<string, number>()
  const headings = ['`mulligan run`', '2. Every hint is actionable', "A project's rules", 'Models', 'Models']
  expect(headings.map((heading) => slug(heading, taken))).toEqual([
    ...['mulligan-run', '2-every-hint-is-actionable', 'a-projects-rules', 'models', 'models-1'],
  ])
})
