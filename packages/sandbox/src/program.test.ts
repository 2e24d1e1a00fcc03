import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { resolveProgram, runProgram, safePath, startProgram } from './program.ts'

let root: string
let workspace: string
let good: string

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'programs-')))
  workspace = join(root, 'workspace')
  good = put(join(root, 'bin'))
  mkdirSync(workspace)
  process.chdir(workspace)
})
afterEach(() => {
  process.chdir(tmpdir())
  rmSync(root, { recursive: true })
})

/** Creates a folder with a program `tool`. */
function put(folder: string): string {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'tool'), '#!/bin/sh\n')
  chmodSync(join(folder, 'tool'), 0o755)
  return folder
}
const workspaceBin = (name: string): string => put(join(workspace, name))
const find = (...entries: string[]) => resolveProgram('tool', { workspace, path: [...entries, good].join(delimiter) })

/** PATH entries that would make a project's program come first. */
const ENTRIES: readonly [what: string, entry: () => string][] = [
  ['node_modules/.bin of the workspace', () => workspaceBin('node_modules/.bin')],
  ['node_modules/.bin around the workspace', () => put(join(root, 'node_modules/.bin'))],
  ['another folder of the workspace', () => workspaceBin('tools')],
  ['a folder of the workspace by way of another', () => `${workspaceBin('tools')}/../../bin/../workspace/tools`],
  [
    'a relative folder',
    () => {
      workspaceBin('tools')
      return './tools'
    },
  ],
  [
    'the working folder',
    () => {
      workspaceBin('.')
      return '.'
    },
  ],
  [
    'an empty entry',
    () => {
      workspaceBin('.')
      return ''
    },
  ],
  [
    'a link to node_modules/.bin',
    () => {
      symlinkSync(workspaceBin('node_modules/.bin'), join(root, 'link'))
      return join(root, 'link')
    },
  ],
]

describe('is never searched', () => {
  test.each(ENTRIES)('%s', (_, entry) => {
    const hostile = entry()
    // Control: a shell finds the project's program.
    const found = execFileSync('/bin/sh', ['-c', 'command -v tool'], { env: { PATH: [hostile, good].join(':') }, cwd: workspace })
    expect(String(found).trim()).not.toBe(join(good, 'tool'))

    expect(find(hostile)).toBe(join(good, 'tool'))
    expect(safePath([hostile, good].join(delimiter), workspace)).toBe(good)
  })

  test('a file that is a link into the workspace', () => {
    const links = join(root, 'links')
    mkdirSync(links)
    symlinkSync(join(workspaceBin('tools'), 'tool'), join(links, 'tool'))
    expect(find(links)).toBe(join(good, 'tool'))
    expect(resolveProgram('tool', { workspace: join(root, 'other'), path: links })).toBe(join(links, 'tool'))
  })

  test('a workspace that is named by a link', () => {
    symlinkSync(workspace, join(root, 'named'))
    const path = [workspaceBin('tools'), good].join(delimiter)
    expect(resolveProgram('tool', { workspace: join(root, 'named'), path })).toBe(join(good, 'tool'))
  })
})

test('the first in PATH counts, of those that may be run', () => {
  const other = put(join(root, 'other'))
  expect(find(other)).toBe(join(other, 'tool'))
  chmodSync(join(other, 'tool'), 0o644)
  expect(find(other)).toBe(join(good, 'tool'))
  expect(resolveProgram('tool', { workspace, path: '' })).toBeUndefined()
})

test('a bare name is started by nobody', async () => {
  expect(() => startProgram('true', [])).toThrow(TypeError)
  expect(() => startProgram('./tools/tool', [])).toThrow(TypeError)
  await expect(runProgram('true', [])).rejects.toThrow(TypeError)
})
