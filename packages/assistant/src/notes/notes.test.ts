/** The tools for notes: what each comes to when something is found, nothing is, it is asked wrongly, the folder is faulty, and none is set up. */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { render, type Tool, type ToolResult } from '@mulligan/core'
import { createExecutor } from '@mulligan/core/executor'
import { conformance } from '@mulligan/testing'
import { createChangeLog } from '@mulligan/tools'
import { describe, expect, it } from 'vitest'
import { indexFile } from './index/database.ts'
import { notesTools } from './index.ts'

/** A vault in a temporary folder, with the tools over it. */
function vault(files: Readonly<Record<string, string | Uint8Array>> = {}, more: { readonly vault?: string | undefined } = {}) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'notes-')))
  const dir = join(root, 'vault')
  mkdirSync(dir)
  const write = (path: string, text: string | Uint8Array): void => {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), text)
  }
  for (const [path, text] of Object.entries(files)) write(path, text)
  const indexes = join(root, 'indexes')
  const changes = join(root, 'changes')
  const { tools, close } = notesTools({ ...{ vault: dir, indexes, changes }, ...more })
  const executor = createExecutor({ tools, policy: () => ({ decision: 'allow', reason: '' }) })
  let n = 0
  async function run(name: string, input: object = {}): Promise<ToolResult> {
    const call = { id: `s/1/1/${n}`, step: n + 1, ordinal: n++, name, input }
    const prepared = await executor.prepare(call)
    if (prepared.kind === 'approval') throw new Error(`${name} needs approval`)
    return (prepared.kind === 'result' ? prepared.record : await executor.execute(prepared.call)).result
  }
  return {
    ...{ root, dir, indexes, changes, tools, write, run, close },
    /** What the model reads. */
    said: async (name: string, input: object = {}) => render(await run(name, input)),
    read: (path: string) => readFileSync(join(dir, path), 'utf8'),
    [Symbol.dispose]: () => {
      close()
      rmSync(root, { recursive: true, force: true })
    },
  }
}

const FILES = {
  'Work/Friday planning.md':
    '---\ntags: [work, planning/weekly]\naliases: [Weekly]\n---\n# Friday\n\nWe decided to ship on Monday. Ana writes the notes.\n\n## Tasks\n\n- call Bob\n\n## Later\n\nNothing.\n',
  'Work/Budget.md': 'The budget of the [[Friday planning]]. #work\nSee also [the plan](Friday%20planning.md#Tasks).\n',
  'Home/Recipes.md': '# Crème brûlée\n\nSugar and cream. `#not-a-tag` [[Missing]]\n',
} as const

describe('the five outcomes', () => {
  it.each<[string, object, object | undefined, object]>([
    ['search_notes', { query: 'monday' }, { query: 'zebra monday' }, { query: '!!!' }],
    ['list_notes', { tag: 'planning', sort: 'name' }, { tag: 'qqqqqqqqqqqq' }, { folder: 'Wrok' }],
    ['read_note', { name: 'weekly' }, undefined, { name: 'Friday plan' }],
    ['write_note', { name: 'New', content: 'Hi.\n' }, undefined, { name: 'Budget', content: 'x' }],
    [
      'append_note',
      { name: 'Friday planning', heading: 'Tasks', content: '- mail Ana' },
      undefined,
      { name: 'Budget', heading: 'Tasks', content: 'x' },
    ],
    ['backlinks', { name: 'Friday planning' }, { name: 'Recipes' }, { name: 'Firday planning' }],
    ['move_note', { name: 'Friday planning', to: 'Plans/Friday' }, undefined, { name: 'Budget', to: 'Recipes/../../x' }],
  ])('%s', async (name, found, nothing, wrong) => {
    const texts: Record<string, string> = {}
    {
      using here = vault(FILES)
      texts['found'] = (await here.said(name, found)).replaceAll(/\d{4}-\d\d-\d\d/g, 'DATE')
      if (nothing) texts['nothing found'] = await here.said(name, nothing)
      texts['asked wrongly'] = await here.said(name, wrong)
    }
    using none = vault({}, { vault: undefined })
    texts['not set up'] = await none.said(name, found)
    using gone = vault(FILES)
    await gone.run('list_notes')
    rmSync(gone.dir, { recursive: true })
    texts['faulty'] = await gone.said(name, found)
    expect(texts).toMatchSnapshot()
  })

  it('every hint that names a command names one that exists', async () => {
    using none = vault({}, { vault: undefined })
    const result = await none.run('search_notes', { query: 'x' })
    expect(result).toMatchObject({
      ok: false,
      status: 'failed',
      errorType: 'config',
      error: expect.stringContaining('mulligan config set notes.vault'),
    })
  })

  it('conform to the contract', async () => {
    using around = vault()
    const report = await conformance((dir) => notesTools({ vault: dir, indexes: join(around.indexes, dir.replaceAll('/', '_')) }).tools)
    expect(
      report.tools.flatMap(({ tool, checks }) => checks.filter(({ outcome }) => outcome === 'fail').map((one) => [tool, one])),
    ).toEqual([])
  })

  it('only what changes has an effect, and nothing is sent by reading', () => {
    using here = vault()
    expect(here.tools.map(({ name, effect, untrusted, sends }: Tool) => [name, effect, untrusted, sends])).toEqual([
      ...['search_notes', 'list_notes', 'read_note'].map((name) => [name, 'read', true, undefined]),
      ...['write_note', 'append_note'].map((name) => [name, 'write', false, undefined]),
      ['backlinks', 'read', true, undefined],
      ['move_note', 'write', false, undefined],
    ])
  })
})

describe('search', () => {
  it.each([
    ['whole words before longer ones', 'plan', ['a.md', 'b.md']],
    ['every word', 'plan lunch', ['b.md']],
    ['accents and case are ignored', 'CREME', ['c.md']],
    ['a phrase', '"brulee recipe"', ['c.md']],
    ['an e-mail address', 'ana@example.org', ['d.md']],
    ['a tag besides a word', 'plan #food', ['b.md']],
    ['what SQLite would read as an operator', 'plan OR "', []],
    ['of a name', 'd', ['d.md']],
  ])('%s', async (_, query, expected) => {
    using here = vault({
      'a.md': 'The plan.',
      'b.md': 'Planning lunch #food',
      'c.md': 'crème brûlée recipe',
      'd.md': 'Write to ana@example.org',
    })
    const result = await here.run('search_notes', { query })
    expect(result.ok && (result.data as { notes: { path: string }[] }).notes.map(({ path }) => path)).toEqual(expected)
  })

  it('has pages, and says when a page is past the last', async () => {
    using here = vault(Object.fromEntries(Array.from({ length: 25 }, (_, at) => [`n${at}.md`, 'word'])))
    expect(await here.run('search_notes', { query: 'word', page: 3 })).toMatchObject({ ok: true, count: 25, page: 3, hasMore: false })
    expect(await here.run('search_notes', { query: 'word', page: 4 })).toMatchObject({
      ok: false,
      status: 'retry',
      details: { suggestion: 3 },
    })
  })

  it('sees at once what others add, change, rename and remove, also in new folders', async () => {
    using here = vault({ 'a.md': 'one' })
    const count = async (query: string) => ((await here.run('search_notes', { query })) as { count?: number }).count
    expect(await count('one')).toBe(1)
    here.write('new/folder/b.md', 'one')
    expect(await count('one')).toBe(2)
    here.write('new/folder/c.md', 'one')
    here.write('a.md', 'two, and longer')
    expect([await count('one'), await count('two')]).toEqual([2, 1])
    unlinkSync(join(here.dir, 'new/folder/b.md'))
    expect(await count('one')).toBe(1)
    rmSync(join(here.dir, 'new'), { recursive: true })
    expect(await count('one')).toBe(0)
  })

  it('a damaged index is built anew, while it is open too', async () => {
    using here = vault(FILES)
    const query = { query: 'monday' }
    expect(await here.run('search_notes', query)).toMatchObject({ count: 1 })
    const file = indexFile(here.indexes, here.dir)
    here.close()
    writeFileSync(file, 'not a database, but long enough to be taken for one'.repeat(100))
    expect(await here.run('search_notes', query)).toMatchObject({ ok: true, count: 1 })
    here.close()
    rmSync(here.indexes, { recursive: true })
    expect(await here.run('search_notes', query)).toMatchObject({ ok: true, count: 1 })
  })

  it('keeps nothing in the vault', async () => {
    using here = vault(FILES)
    await here.run('search_notes', { query: 'monday' })
    expect(readdirSync(here.dir).sort()).toEqual(['Home', 'Work'])
    expect(statSync(here.indexes).mode & 0o77).toBe(0)
  })
})

describe('links', () => {
  const LINKED = {
    'Plan.md': 'Me: [[Plan]], [other](Other.md).',
    'Other.md': 'x',
    'Day.md':
      '[[Plan]] ![[plan#Part|shown]] [[Plan.md]] `[[Plan]]` [p](Plan.md) [e](https://x.org/Plan.md) [[Planet]]\n```\n[[Plan]]\n```\n',
    'Sub/Deep.md': '[up](../Plan.md) [[/Plan]]',
  }

  it('are right after a rename: by name, path, heading and text, and not in code', async () => {
    using here = vault(LINKED)
    const result = await here.run('move_note', { name: 'Plan', to: 'Projects/New (1)' })
    expect(result).toMatchObject({ ok: true, data: { path: 'Projects/New (1).md', rewritten: ['Day.md', 'Sub/Deep.md'] } })
    expect(here.read('Day.md')).toBe(
      '[[New (1)]] ![[New (1)#Part|shown]] [[New (1).md]] `[[Plan]]` [p](Projects/New%20%281%29.md) [e](https://x.org/Plan.md) [[Planet]]\n```\n[[Plan]]\n```\n',
    )
    expect(here.read('Sub/Deep.md')).toBe('[up](../Projects/New%20%281%29.md) [[Projects/New (1)]]')
    expect(here.read('Projects/New (1).md')).toBe('Me: [[New (1)]], [other](../Other.md).')
    expect(await here.said('backlinks', { name: 'New (1)' })).toContain('Sub/Deep.md')
  })

  it('name the path where two notes have the same name', async () => {
    using here = vault({ 'a/Plan.md': 'x', 'b/Other.md': 'x', 'Day.md': '[[Plan]]', 'c/Plan2.md': 'x' })
    await here.run('move_note', { name: 'Plan', to: 'a/Plan2' })
    expect(here.read('Day.md')).toBe('[[a/Plan2]]')
  })

  it('and the whole rename can be undone', async () => {
    using here = vault(LINKED)
    await here.run('move_note', { name: 'Plan', to: 'New' })
    const log = createChangeLog({ dir: here.changes, root: here.dir })
    const [turn] = await log.turns()
    expect((await log.undo(turn?.turn ?? '')).done).toBe(true)
    for (const [path, text] of Object.entries(LINKED)) expect(here.read(path)).toBe(text)
  })
})

describe('writing', () => {
  it('shows the change before it is made', async () => {
    using here = vault(FILES)
    const preview = (name: string, input: object) => here.tools.find((tool) => tool.name === name)?.preview?.(input as never)
    expect(await preview('append_note', { name: 'Recipes', content: 'Eggs.' })).toContain('+Eggs.')
    expect(await preview('move_note', { name: 'Friday planning', to: 'Friday' })).toContain('+The budget of the [[Friday]]. #work')
    expect(here.read('Home/Recipes.md')).toBe(FILES['Home/Recipes.md'])
  })

  it('replaces only what was read as it is now, and keeps the front matter', async () => {
    using here = vault(FILES)
    const replace = () => here.run('write_note', { name: 'Friday planning', content: 'New.\n', overwrite: true })
    expect(await replace()).toMatchObject({ ok: false, errorType: 'conflict', details: { call: { tool: 'read_note' } } })
    await here.run('read_note', { name: 'Friday planning' })
    here.write('Work/Friday planning.md', 'changed')
    expect(await replace()).toMatchObject({ ok: false, errorType: 'conflict' })
    await here.run('read_note', { name: 'Friday planning' })
    here.write('Work/Friday planning.md', FILES['Work/Friday planning.md'])
    await here.run('read_note', { name: 'Friday planning' })
    expect(await replace()).toMatchObject({ ok: true, notes: expect.arrayContaining(['Its front matter was kept.']) })
    expect(here.read('Work/Friday planning.md')).toMatch(/^---\ntags: [\s\S]*---\nNew\.\n$/)
  })

  it('puts added text at the end of a section', async () => {
    using here = vault(FILES)
    await here.run('append_note', { name: 'Friday planning', heading: 'Tasks', content: '- mail Ana' })
    expect(here.read('Work/Friday planning.md')).toContain('## Tasks\n\n- call Bob\n- mail Ana\n\n## Later')
  })

  it.each(['../outside', '/etc/x', 'link/x', '.obsidian/app', 'a[b]'])('%s: nothing is written', async (name) => {
    using here = vault({ '.obsidian/app.json': '{}' })
    mkdirSync(join(here.root, 'elsewhere'))
    symlinkSync(join(here.root, 'elsewhere'), join(here.dir, 'link'))
    const result = await here.run('write_note', { name, content: 'x' })
    expect([result.ok, readdirSync(join(here.root, 'elsewhere')), readdirSync(here.root).sort()]).toEqual([
      name === '/etc/x',
      [],
      expect.arrayContaining(['vault', 'elsewhere']),
    ])
    expect(readdirSync(join(here.dir, '.obsidian'))).toEqual(['app.json'])
  })

  it('links that lead out of the folder are not read, nor indexed', async () => {
    using here = vault({ 'a.md': 'inside' })
    writeFileSync(join(here.root, 'secret.md'), 'secret outside')
    symlinkSync(join(here.root, 'secret.md'), join(here.dir, 'link.md'))
    mkdirSync(join(here.root, 'more'))
    writeFileSync(join(here.root, 'more/b.md'), 'secret outside')
    symlinkSync(join(here.root, 'more'), join(here.dir, 'folder'))
    expect(await here.run('search_notes', { query: 'secret' })).toMatchObject({ ok: true, count: 0 })
    expect(await here.run('read_note', { name: 'link' })).toMatchObject({ ok: false })
    expect(await here.run('read_note', { name: 'folder/b' })).toMatchObject({ ok: false })
  })

  it('a note that is not UTF-8 is left alone', async () => {
    using here = vault({ 'latin.md': new Uint8Array([0x66, 0xfc, 0x72]) })
    expect(await here.run('append_note', { name: 'latin', content: 'x' })).toMatchObject({ ok: false, errorType: 'unsupported' })
    expect(readFileSync(join(here.dir, 'latin.md'))).toHaveLength(3)
  })
})

it('reads sections, and names the nearest heading', async () => {
  using here = vault(FILES)
  expect(await here.run('read_note', { name: '[[Friday planning#Tasks]]' })).toMatchObject({
    ok: true,
    data: { text: '## Tasks\n\n- call Bob\n' },
  })
  expect(await here.run('read_note', { name: 'Friday planning#Taks' })).toMatchObject({ details: { suggestion: 'Friday planning#Tasks' } })
})

it('hostile notes cannot make it slow', async () => {
  const long = 'x'.repeat(300_000)
  using here = vault({
    'a.md': `[[${long}`,
    'b.md': '`'.repeat(100_000),
    'c.md': `---\n${'tags: ['.repeat(20_000)}`,
    'd.md': `](${'('.repeat(100_000)}`,
    'e.md': `#${'/a'.repeat(100_000)}`,
    'f.md': '[['.repeat(100_000),
    'g.md': `${'<'.repeat(100_000)}findme`,
    'h.md': `# ${' #'.repeat(100_000)}`,
  })
  const begun = performance.now()
  expect(await here.run('search_notes', { query: 'findme' })).toMatchObject({ ok: true, count: 1 })
  await here.run('read_note', { name: 'h#none' })
  expect(performance.now() - begun).toBeLessThan(20_000)
})
