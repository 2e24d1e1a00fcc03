/**
 * Tests that parameters which models know from the tools of other agents cause no retry: each is accepted, and the call does what was
 * meant.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { render } from '@mulligan/core'
import { describe, expect, test } from 'vitest'
import { createWorkspace } from './create-workspace.ts'
import { NEW_REPOSITORY } from './git/common/parameters.ts'
import { fileTools, gitTools } from './index.ts'
import { shell, turn } from './shell/shell.fixture.ts'
import { put, temporary } from './workspace.fixture.ts'

const FILES = { 'src/a.ts': 'one\ntwo\nthree\nfour\n', 'src/b.md': 'Two\n', 'old.txt': 'x\n' }

/** Comments for the person who approves a call. */
const COMMENTS = ['description', 'explanation', 'justification', 'reason', 'toolSummary', 'toolAction', 'requires_approval', 'is_dangerous']

async function called(name: string, input: Readonly<Record<string, unknown>>) {
  const root = temporary()
  put(root, FILES)
  const tools = fileTools(createWorkspace(root))
  const { call, events } = turn(tools)
  const { result } = await call(name, input)
  const counted = events.filter(({ type }) => type === 'tool.retry')
  return { result, text: render(result), counted, file: (path: string) => readFileSync(join(root, path), 'utf8') }
}

type Row = readonly [habit: string, input: Readonly<Record<string, unknown>>, shows: RegExp]

const READ: readonly Row[] = [
  ['file_path', { file_path: 'src/a.ts' }, /one[\s\S]*four/],
  ['target_file', { target_file: 'src/a.ts', should_read_entire_file: true }, /one[\s\S]*four/],
  [
    'the whole file of Cursor',
    { target_file: 'src/a.ts', should_read_entire_file: false, start_line_one_indexed: 2, end_line_one_indexed_inclusive: 3 },
    /^(?!.*one)[\s\S]*two[\s\S]*three(?![\s\S]*four)/,
  ],
  ['startLine and endLine', { filePath: 'src/a.ts', startLine: 2, endLine: 3 }, /^(?!.*one)[\s\S]*two[\s\S]*three(?![\s\S]*four)/],
  ['start_line and end_line', { path: 'src/a.ts', start_line: '2', end_line: '3' }, /^(?!.*one)[\s\S]*two[\s\S]*three(?![\s\S]*four)/],
  ['view_range', { path: 'src/a.ts', view_range: [2, -1] }, /^(?!.*one)[\s\S]*two[\s\S]*four/],
  ['offset and limit', { file_path: 'src/a.ts', offset: 1, limit: 1 }, /^(?!.*one)[\s\S]*two(?![\s\S]*three)/],
  ['AbsolutePath', { AbsolutePath: 'src/a.ts', StartLine: 1, EndLine: 1 }, /one(?![\s\S]*two)/],
]

const GREP: readonly Row[] = [
  ['-n and -i', { pattern: 'TWO', '-n': true, '-i': true }, /src\/a\.ts[\s\S]*two[\s\S]*Two|Two[\s\S]*two/],
  ['-C', { pattern: 'two', '-C': 1, glob: '*.ts' }, /one[\s\S]*two[\s\S]*three/],
  ['-A', { pattern: 'two', '-A': 1, glob: '*.ts' }, /two[\s\S]*three/],
  ['-B', { pattern: 'two', '-B': 1, glob: '*.ts' }, /one[\s\S]*two/],
  ['output_mode files_with_matches', { pattern: 'two', output_mode: 'files_with_matches' }, /src\/a\.ts(?![\s\S]*two)/],
  ['output_mode content', { pattern: 'three', output_mode: 'content', head_limit: 5 }, /three/],
  ['output_mode count', { pattern: 'three', output_mode: 'count' }, /src\/a\.ts.*1/],
  ['type', { pattern: 'two', type: 'ts' }, /src\/a\.ts(?![\s\S]*b\.md)/],
  ['multiline', { pattern: 'two', multiline: false, path: 'src' }, /two/],
  ['case_sensitive', { query: 'Two', case_sensitive: true, include_pattern: '*.md' }, /b\.md/],
  ['isRegexp', { query: 't.o', isRegexp: false, includePattern: '**/*' }, /count 0|[Nn]o match/],
  [
    'regexes and paths of Windsurf',
    { Query: 'two', SearchPath: 'src', MatchPerLine: true, Includes: ['*.ts'], CaseInsensitive: true },
    /two/,
  ],
]

const GLOB: readonly Row[] = [
  ['glob_pattern', { glob_pattern: '**/*.ts' }, /src\/a\.ts/],
  ['target_directory', { glob_pattern: '*.ts', target_directory: 'src' }, /a\.ts/],
  ['case_sensitive', { pattern: '**/*.ts', case_sensitive: false, respect_git_ignore: true }, /src\/a\.ts/],
  ['Pattern and SearchDirectory', { Pattern: '**/*.ts', SearchDirectory: '.', Type: 'file' }, /src\/a\.ts/],
]

const LIST: readonly Row[] = [
  ['target_directory', { target_directory: 'src' }, /a\.ts/],
  ['relative_workspace_path', { relative_workspace_path: 'src' }, /a\.ts/],
  ['DirectoryPath', { DirectoryPath: 'src' }, /a\.ts/],
  ['recursive', { path: 'src', recursive: false }, /a\.ts/],
  ['ignore_globs', { path: 'src', ignore_globs: ['*.md'] }, /a\.ts(?![\s\S]*b\.md)/],
  ['ignore of Gemini', { path: 'src', ignore: ['*.md'], respect_git_ignore: true }, /a\.ts(?![\s\S]*b\.md)/],
]

describe.each([
  ['read_file', READ],
  ['grep', GREP],
  ['glob', GLOB],
  ['list_dir', LIST],
] as const)('%s', (name, rows) => {
  test.each(rows)('%s', async (_, input, shows) => {
    const { result, text, counted } = await called(name, input)
    expect([result, counted]).toMatchObject([{ ok: true }, []])
    expect(text).toMatch(shows)
  })
})

describe('write_file', () => {
  test.each([
    ['file_path', { file_path: 'n.ts', content: 'new\n' }],
    ['contents', { path: 'n.ts', contents: 'new\n' }],
    ['target_file', { target_file: 'n.ts', contents: 'new\n' }],
    ['file_text', { path: 'n.ts', file_text: 'new\n' }],
    ['filePath', { filePath: 'n.ts', content: 'new\n' }],
    ['overwrite', { path: 'n.ts', content: 'new\n', overwrite: true }],
    ['line_count', { path: 'n.ts', content: 'new\n', line_count: 1 }],
    ['TargetFile', { TargetFile: 'n.ts', CodeContent: 'new\n', EmptyFile: false }],
    ['code', { path: 'n.ts', code: 'new\n' }],
    ['instructions', { path: 'n.ts', content: 'new\n', instructions: 'I write it.' }],
  ] as const)('%s', async (_, input) => {
    const { result, file } = await called('write_file', input)
    expect(result).toMatchObject({ ok: true })
    expect(file('n.ts')).toBe('new\n')
  })
})

describe('edit_file', () => {
  test.each([
    ['old_string', { file_path: 'src/a.ts', old_string: 'two', new_string: '2' }],
    ['replace_all', { file_path: 'src/a.ts', old_string: 'two', new_string: '2', replace_all: false }],
    ['expected_replacements', { file_path: 'src/a.ts', old_string: 'two', new_string: '2', expected_replacements: 1 }],
    ['old_str', { path: 'src/a.ts', old_str: 'two', new_str: '2', command: 'str_replace' }],
    ['oldString', { filePath: 'src/a.ts', oldString: 'two', newString: '2' }],
    ['target_file', { target_file: 'src/a.ts', old_string: 'two', new_string: '2' }],
    ['edits', { path: 'src/a.ts', edits: [{ oldText: 'two', newText: '2' }], dryRun: false }],
    ['instruction', { file_path: 'src/a.ts', old_string: 'two', new_string: '2', instruction: 'Change it.' }],
    [
      'replacement chunks',
      { TargetFile: 'src/a.ts', ReplacementChunks: [{ TargetContent: 'two', ReplacementContent: '2', AllowMultiple: false }] },
    ],
  ] as const)('%s', async (_, input) => {
    const { result, file } = await called('edit_file', input)
    expect([result, file('src/a.ts')]).toMatchObject([{ ok: true }, 'one\n2\nthree\nfour\n'])
  })
})

test.each([
  ['delete_file', { target_file: 'old.txt' }],
  ['move_file', { source: 'old.txt', destination: 'new.txt' }],
  ['make_dir', { DirectoryPath: 'new' }],
  ['tree', { path: '.', max_depth: 2 }],
] as const)('%s', async (name, input) => expect((await called(name, input)).result).toMatchObject({ ok: true }))

describe('bash', () => {
  test.each([
    ['description', { command: 'echo hi', description: 'Says hi.' }, 'hi'],
    ['argv', { command: ['bash', '-lc', 'echo hi | tr h H'] }, 'Hi'],
    ['words', { command: ['echo', 'a b'] }, 'a b'],
    ['milliseconds', { command: 'echo hi', timeout: 120000 }, 'hi'],
    ['more milliseconds than there may be', { command: 'echo hi', timeout: 3_600_000 }, 'hi'],
    ['timeout_ms', { command: 'echo hi', timeout_ms: 5000 }, 'hi'],
    ['timeout_seconds', { command: 'echo hi', timeout_seconds: 5 }, 'hi'],
    ['workdir', { command: 'ls', workdir: 'src' }, 'a.ts'],
    ['working_directory', { command: 'ls', working_directory: 'src' }, 'a.ts'],
    ['is_background', { command: 'echo hi', is_background: false, explanation: 'x' }, 'hi'],
    ['isBackground', { command: 'echo hi', isBackground: false, explanation: 'x' }, 'hi'],
    ['Blocking', { CommandLine: 'echo hi', Cwd: '.', Blocking: true, WaitMsBeforeAsync: 0, SafeToAutoRun: true }, 'hi'],
    ['with_escalated_permissions', { command: ['echo', 'hi'], with_escalated_permissions: true, justification: 'x' }, 'hi'],
    ['allowNonZeroExit', { command: 'echo hi; exit 3', allowNonZeroExit: true }, 'hi'],
  ] as const)('%s', async (_, input, prints) => {
    const { call, events } = turn(shell(FILES).tools)
    const { result } = await call('bash', input)
    expect(result).toMatchObject({ ok: true })
    expect(result.ok && (result.data as { stdout: string }).stdout).toContain(prints)
    expect(events.filter(({ type }) => type === 'tool.retry')).toEqual([])
  })

  test.each([
    ['run_in_background', true],
    ['Blocking', false],
  ] as const)('%s goes to the background', async (name, value) => {
    const { call } = turn(shell().tools)
    expect((await call('bash', { command: 'sleep 100', [name]: value })).result).toMatchObject({ ok: true, data: { status: 'running' } })
  })
})

describe('what is only said about a call', () => {
  const root = temporary()
  put(root, { ...NEW_REPOSITORY, ...FILES })
  const workspace = createWorkspace(root)
  const inputs: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
    read_file: { path: 'src/a.ts' },
    write_file: { path: 'new.txt', content: '' },
    edit_file: { path: 'src/a.ts', edits: [{ old_text: 'one', new_text: '1' }] },
    apply_patch: { patch: '*** Begin Patch\n*** Add File: p.txt\n+x\n*** End Patch' },
    delete_file: { path: 'old.txt' },
    move_file: { path: 'src/b.md', to: 'c.md' },
    make_dir: { path: 'made' },
    list_dir: {},
    tree: {},
    glob: { pattern: '*' },
    grep: { pattern: 'one' },
    git_status: {},
    git_diff: {},
  }
  const tools = [...fileTools(workspace), ...gitTools(workspace)]
  test.each(Object.entries(inputs))('%s', async (name, input) => {
    const { call } = turn(tools)
    const { result } = await call(name, { ...input, ...Object.fromEntries(COMMENTS.map((comment) => [comment, 'x'])) })
    expect(result).toMatchObject({ ok: true })
  })

  test('control: another parameter that there is not is told, and nothing is written', async () => {
    const { call } = turn(tools)
    expect((await call('write_file', { path: 'n.txt', content: '', encoding: 'utf-16' })).result).toMatchObject({ status: 'retry' })
  })
})
