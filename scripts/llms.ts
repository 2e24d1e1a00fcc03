/** `npm run llms`: generates llms.txt, a table of contents of the documentation for language models. A test checks that it is current. */
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** The pages that come first; the others follow by name. */
const FIRST = ['README.md', 'docs/contract.md', 'docs/cli.md', 'docs/library.md']

/** The text of llms.txt: the name, a summary, and each page with its first sentence. */
export function llmsText(): string {
  const rest = globSync(['docs/**/*.md', 'packages/*/README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'], { cwd: ROOT })
  const pages = [...FIRST, ...rest.filter((page) => !FIRST.includes(page)).sort()]
  const [readme] = pages.map(summary)
  const section = (title: string, of: (page: string) => boolean): string =>
    [`## ${title}`, '', ...pages.filter(of).map((page) => line(page)), ''].join('\n')
  return [
    `# ${readme?.title}`,
    '',
    `> ${readme?.says}`,
    '',
    section('Documentation', (page) => page.startsWith('docs/') && !page.startsWith('docs/api/')),
    ...(pages.some((page) => page.startsWith('docs/api/')) ? [section('API', (page) => page.startsWith('docs/api/'))] : []),
    section('Packages', (page) => page.startsWith('packages/')),
    section('Optional', (page) => !page.includes('/')),
  ].join('\n')
}

function line(page: string): string {
  const { title, says } = summary(page)
  return `- [${title}](${page})${says === '' ? '' : `: ${says}`}`
}

/** The heading of a page and the first sentence below it, without links. */
function summary(page: string): { readonly title: string; readonly says: string } {
  const lines = readFileSync(join(ROOT, page), 'utf8').split('\n')
  const title = lines.find((one) => one.startsWith('# '))?.slice(2) ?? page
  const prose = lines.find((one) => /^(?!```)[A-Za-z`*]/.test(one)) ?? ''
  const plain = prose.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
  return { title, says: /^.*?[.:](?= |$)/.exec(plain)?.[0].replace(/:$/, '.') ?? plain }
}

if (import.meta.main) writeFileSync(join(ROOT, 'llms.txt'), llmsText())
