import { expect, it } from 'vitest'
import { frontMatter } from './front-matter.ts'

const file = (yaml: string) => `---\n${yaml}\n---\nThe text.\n`

it('is YAML between two lines, and the text after it', async () => {
  expect(await frontMatter(file('description: Is it? Yes, it is\ntools: [read_file]'))).toEqual({
    fields: { description: 'Is it? Yes, it is', tools: ['read_file'] },
    body: 'The text.',
  })
  expect(await frontMatter('No front matter.')).toEqual({ fields: {}, body: 'No front matter.' })
})

it.each([
  ['explicit keys in each other', '? '.repeat(1500)],
  ['the same with other things between', 'a: ? '.repeat(1500)],
  ['brackets in each other', '{'.repeat(1500)],
  ['very many keys', Array.from({ length: 25_000 }, (_, at) => `key${at}: x`).join('\n')],
])('what would take a project’s files for ever is not read: %s', async (_, yaml) => {
  await expect(frontMatter(file(yaml))).rejects.toThrow('too long or too deeply nested')
})

it('what is not YAML is refused, and not read in part; read line by line where that is asked for', async () => {
  const broken = file('description: Reads: only\ntools: [read_file] [grep]')
  await expect(frontMatter(broken)).rejects.toThrow(/Nested mappings|flow/)
  expect((await frontMatter(broken, true)).fields).toEqual({ description: 'Reads: only', tools: '[read_file] [grep]' })
})
