import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { llmsText } from './llms.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

it('llms.txt is current: `npm run llms` writes it', () => {
  expect(readFileSync(join(ROOT, 'llms.txt'), 'utf8')).toBe(llmsText())
})

it('has every page with a sentence, and no other', () => {
  const pages = [...llmsText().matchAll(/^- \[.+?\]\((.+?)\): [\w`].*\.$/gm)].map(([, page]) => page as string)
  expect(pages).toEqual(expect.arrayContaining(['docs/contract.md', 'packages/core/README.md', 'CONTRIBUTING.md']))
  expect(pages).toHaveLength(llmsText().split('\n- ').length - 1)
  expect(pages.filter((page) => !existsSync(join(ROOT, page)))).toEqual([])
})
