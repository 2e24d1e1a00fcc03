/** The pages of the site, in reading order. A page of docs/ that is missing here fails the tests. */
import { ENTRIES } from '../api/entries.ts'

export interface Section {
  readonly title: string
  /** Paths in the repository. */
  readonly pages: readonly string[]
}

export const SECTIONS: readonly Section[] = [
  { title: 'Begin', pages: ['README.md', 'docs/concepts.md', 'docs/comparison.md'] },
  {
    title: 'The terminal agent',
    pages: [
      'docs/terminal.md',
      'docs/local-models.md',
      'docs/cli.md',
      'docs/configuration.md',
      'docs/approval.md',
      'docs/sandbox.md',
      'docs/tools.md',
      'docs/server.md',
      'docs/page.md',
      'docs/eval.md',
    ],
  },
  {
    title: 'Build on it',
    pages: [
      'docs/library.md',
      'docs/adapters.md',
      'docs/contract.md',
      'docs/sessions.md',
      'docs/host.md',
      'docs/own-tools.md',
      'docs/testing.md',
      'docs/repair.md',
      'docs/mcp.md',
      'docs/editors.md',
      'docs/assistant.md',
      'docs/telemetry.md',
    ],
  },
  {
    title: 'API',
    pages: ENTRIES.map((entry) => `docs/api/${entry.replace('/', '-')}.md`),
  },
  { title: 'The project', pages: ['docs/stability.md', 'SECURITY.md', 'CONTRIBUTING.md', 'CHANGELOG.md'] },
]

export const PAGES = SECTIONS.flatMap(({ pages }) => pages)

/** `docs/cli.md` → `docs/cli.html`; the README is the first page. */
export const htmlPath = (page: string): string => (page === 'README.md' ? 'index.html' : page.replace(/\.md$/, '.html'))
