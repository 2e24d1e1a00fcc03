import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { searchTools } from './search.ts'
import { MANY } from './tool-selection.fixture.ts'

const names = (query: string) => searchTools(query, MANY).map(({ name }) => name)

describe('the first tool found', () => {
  it.each([
    ['commit my changes', 'git_commit'],
    ['download page', 'web_fetch'],
    ['download the page at this URL', 'web_fetch'],
    ['rename a file', 'move_file'],
    ['renaming files', 'move_file'],
    ['remove a file', 'delete_file'],
    ['search the internet', 'web_search'],
    ['see the history', 'git_log'],
    ['send an e-mail to Ann', 'send_mail'],
    ['gitStatus', 'git_status'],
    ['git_commit', 'git_commit'],
    ['replace some text', 'edit_file'],
    ['list the folder', 'list_dir'],
    ['COMMITTED', 'git_commit'],
  ])('%s → %s', (query, first) => expect(names(query)[0]).toBe(first))
})

it.each(['xyzzy', '', '   ', 'the a of', '!!!', '日本'])('no tool is about %j', (query) => expect(names(query)).toEqual([]))

it('what only shares a common word is left out', () => {
  expect(names('rename a file')).not.toContain('glob')
  expect(names('commit my changes')).not.toContain('web_fetch')
})

it('every tool is found by its own name, whatever the set; any text is searched without a fault', () => {
  fc.assert(
    fc.property(fc.subarray([...MANY], { minLength: 1 }), fc.string(), (tools, text) => {
      for (const one of tools) expect(searchTools(one.name, tools)).toContain(one)
      for (const found of searchTools(text, tools)) expect(tools).toContain(found)
    }),
  )
})
