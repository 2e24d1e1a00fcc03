/** Tests the metadata of all tools. */
import { expect, test } from 'vitest'
import { createWorkspace } from './create-workspace.ts'
import { fileTools, gitTools, shellTools, thinkTools, webTools } from './index.ts'
import { temporary } from './workspace.fixture.ts'

const workspace = createWorkspace(temporary())
const shell = shellTools({ workspace, sandbox: () => Promise.reject(new Error('not opened here')) })
const tools = [...fileTools(workspace), ...gitTools(workspace), ...thinkTools(), ...webTools(), ...shell.tools]
const named = (some: readonly { readonly name: string }[]) => some.map(({ name }) => name)

test('where not all fit into a request, these are sent first', () => {
  const first = tools.filter(({ priority }) => priority > 0).toSorted((a, b) => b.priority - a.priority)
  expect(named(first)).toEqual(['read_file', 'edit_file', 'write_file', 'grep', 'bash', 'list_dir', 'glob', 'todo'])
})

test('edits are writes of files, and nothing else', () => {
  const edits = tools.filter((tool) => tool.edits)
  expect(named(edits)).toEqual(['write_file', 'edit_file', 'apply_patch', 'move_file', 'delete_file', 'make_dir'])
  expect(edits.filter(({ effect }) => effect !== 'write')).toEqual([])
})

test('what a person is shown of a call', () => {
  const subject = (name: string, input: object) => tools.find((tool) => tool.name === name)?.subject?.(input as never)
  expect(subject('grep', { pattern: 'a', path: 'src' })).toBe('a')
  expect(subject('bash', { command: 'ls' })).toBe('ls')
  expect(subject('read_file', { path: 'a' })).toBeUndefined()
})
