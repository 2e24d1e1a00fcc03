import { rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { refused, run } from '../../workspace.fixture.ts'
import { freshHome, repository } from '../git.fixture.ts'
import { commits } from './tool.ts'

beforeAll(() => void freshHome())

describe('git_log', () => {
  let r: ReturnType<typeof repository>
  beforeAll(() => {
    r = repository({ 'a.txt': 'a\n' })
    r.put({ 'b.txt': 'b\n' })
    r.save('Add b\n\nBecause of a.\n# and a number sign')
    rmSync(join(r.root, 'a.txt'))
    r.save('Remove a')
    r.git('tag', 'v1')
  })
  const subjects = async (input: object) =>
    ((await run(r.tool('git_log'), input)).data['commits'] as { subject: string }[]).map(({ subject }) => subject)

  test('newest first, with author and message', async () => {
    const result = await run(r.tool('git_log'), {})
    expect(result.content).toMatch(
      /^[0-9a-f]{10} Remove a \(HEAD -> main, tag: v1\)\n {4}Ann <ann@example.org>, \d{4}-.*\n[0-9a-f]{10} Add b\n {4}Ann.*\n {4}Because of a\.\n/,
    )
    expect(result).toMatchObject({ count: 3, hasMore: false, page: 1 })
    expect((await run(r.tool('git_log'), { oneline: true })).content).toMatch(/^\w{10} Remove a \(.*\)\n\w{10} Add b\n\w{10} one$/)
  })

  test.each([
    [{}, ['Remove a', 'Add b', 'one']],
    [{ path: 'a.txt' }, ['Remove a', 'one']],
    [{ grep: 'BECAUSE' }, ['Add b']],
    [{ grep: '.*' }, []],
    [{ ref: 'v1~1' }, ['Add b', 'one']],
    [{ ref: 'HEAD~2..HEAD', limit: 1 }, ['Remove a']],
    [{ ref: 'HEAD~1..' }, ['Remove a']],
    [{ limit: 2, page: 2 }, ['one']],
  ])('%j', async (input, expected) => expect(await subjects(input)).toEqual(expected))

  test('says where to go on, and that there is no such page', async () => {
    expect(await run(r.tool('git_log'), { limit: 2 })).toMatchObject({ hasMore: true, content: expect.stringContaining('next: page=2') })
    expect((await refused(r.tool('git_log'), { limit: 2, page: 9 })).details).toMatchObject({ parameter: 'page', suggestion: 2 })
  })

  test('nothing found, and no commit yet, are ok with count 0', async () => {
    expect(await run(r.tool('git_log'), { grep: 'nowhere' })).toMatchObject({
      count: 0,
      content: 'There is no commit in HEAD with "nowhere".',
    })
    expect(await run(repository().tool('git_log'), {})).toMatchObject({ count: 0, content: 'There is no commit yet.' })
  })

  test.each([
    ['mian', 'main'],
    ['v2', 'v1'],
    ['mian..HEAD', 'main..HEAD'],
  ])('%s is not there: %s is named', async (ref, suggestion) => {
    expect(await refused(r.tool('git_log'), { ref })).toMatchObject({ errorType: 'not_found', details: { parameter: 'ref', suggestion } })
  })

  test.each(['--output=/tmp/x', '-n1', '', 'a\nb', 'HEAD..--all'])('%j is no commit', async (ref) => {
    expect((await refused(r.tool('git_log'), { ref })).status).toBe('retry')
  })

  test('a path that never was, and one outside', async () => {
    expect((await refused(r.tool('git_log'), { path: 'src/b.txt' })).details).toMatchObject({ parameter: 'path', suggestion: 'b.txt' })
    expect((await refused(r.tool('git_log'), { path: '../x' })).errorType).toBe('permission')
    expect(await subjects({ path: ':(glob)*' }).catch((error) => error.status)).toBe('retry')
  })
})

test('records: whatever a message and a name hold', () => {
  const text = fc.string({ unit: 'binary' }).map((one) => one.replaceAll('\0', ''))
  fc.assert(
    fc.property(fc.array(fc.record({ author: text, message: text })), (all) => {
      const printed = all.map(({ author, message }) => `${['h', 'p1 p2', author, 'e', 'd', '', message].join('\0')}\0`).join('\n')
      expect(commits(printed).map(({ hash, author, parents }) => [hash, author, parents])).toEqual(
        all.map(({ author }) => ['h', author, ['p1', 'p2']]),
      )
    }),
  )
})
