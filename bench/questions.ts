/**
 * Counts how often a user is asked in three everyday tasks: calls as a model makes them, on a real project, where each question is
 * answered with "yes, once". Nothing is timed, so the result is the same on every machine with layers.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { render } from '@mulligan/core'
import { createExecutor, type Mode, modePolicy } from '@mulligan/core/executor'
import { createSandbox } from '@mulligan/sandbox'
import { createWorkspace, fileTools, shellPolicy, shellTools } from '@mulligan/tools'
import type { Row, Table } from './table.ts'

type Call = readonly [tool: string, input: object]
const bash = (command: string): Call => ['bash', { command }]

const PROJECT: Readonly<Record<string, string>> = {
  'package.json': `${JSON.stringify({ name: 'app', type: 'module', scripts: { test: 'node --test', lint: 'node scripts/lint.js', format: 'node scripts/format.js', build: 'node scripts/build.js' } }, null, 2)}\n`,
  'src/parse.js': "export const parse = (text) => text.split(',')\n",
  'src/index.js': "import { parse } from './parse.js'\n\nconsole.log(parse('a, b').join('|'))\n",
  'test/parse.test.js':
    "import assert from 'node:assert/strict'\nimport { test } from 'node:test'\nimport { parse } from '../src/parse.js'\n\ntest('parts', () => assert.deepEqual(parse('a, b'), ['a', 'b']))\n",
  'scripts/lint.js':
    "import { readdirSync, readFileSync } from 'node:fs'\nconst bad = readdirSync('src').filter((name) => readFileSync('src/' + name, 'utf8').includes('\\t'))\nprocess.exitCode = bad.length > 0 ? 1 : 0\n",
  'scripts/format.js':
    "import { readdirSync, readFileSync, writeFileSync } from 'node:fs'\nfor (const name of readdirSync('src')) writeFileSync('src/' + name, readFileSync('src/' + name, 'utf8').replace(/ +$/gm, ''))\n",
  'scripts/build.js': "import { cpSync } from 'node:fs'\ncpSync('src', 'dist', { recursive: true })\n",
  'README.md': '# App\n\nIt parses.\n',
  '.gitignore': 'dist/\n',
}
const FIX: Call = [
  'edit_file',
  { path: 'src/parse.js', edits: [{ old_text: "text.split(',')", new_text: "text.split(',').map((part) => part.trim())" }] },
]

/** The calls of the model, by task. */
export const TASKS: Readonly<Record<string, readonly Call[]>> = {
  'fix a failing test': [
    bash('npm test'),
    ['read_file', { path: 'test/parse.test.js' }],
    bash('grep -rn "parse" src test'),
    ['read_file', { path: 'src/parse.js' }],
    bash('git log --oneline -5 -- src/parse.js'),
    FIX,
    bash('node --test test/parse.test.js'),
    bash('npm test 2>&1 | tail -20'),
    bash('npm run lint'),
    bash('git diff'),
  ],
  'rename across files and format': [
    bash('grep -rln parse src test | sort'),
    bash('for f in $(grep -rl parse src test); do sed -i "s/parse/split/g" "$f"; done'),
    bash('git mv src/parse.js src/split.js && git mv test/parse.test.js test/split.test.js'),
    ['read_file', { path: 'src/split.js' }],
    bash('npm run format'),
    bash('npm test 2>&1 | tail -5'),
    ['read_file', { path: 'README.md' }],
    ['edit_file', { path: 'README.md', edits: [{ old_text: 'parses', new_text: 'splits' }] }],
    bash('git status --short'),
    bash('git diff HEAD --stat'),
    bash('grep -rn parse src test | wc -l'),
  ],
  'add a feature and commit it': [
    bash('ls -R src test && cat package.json'),
    ['read_file', { path: 'src/index.js' }],
    [
      'write_file',
      { path: 'src/count.js', content: "import { parse } from './parse.js'\n\nexport const count = (text) => parse(text).length\n" },
    ],
    [
      'write_file',
      {
        path: 'test/count.test.js',
        content:
          "import assert from 'node:assert/strict'\nimport { test } from 'node:test'\nimport { count } from '../src/count.js'\n\ntest('counts', () => assert.equal(count('a,b'), 2))\n",
      },
    ],
    bash('node --test test/count.test.js 2>&1 | tail -15'),
    bash('for s in "a" "a,b"; do node -e "import(\'./src/count.js\').then((m) => console.log(m.count(process.argv[1])))" "$s"; done'),
    bash('npm run build && ls -la dist'),
    bash('cat >> README.md <<E\n\nIt counts.\nE'),
    bash('npm run lint && node --test test/count.test.js'),
    bash('git add -A && git commit -qm "Count the parts"'),
    bash('git log --oneline -2 && git status --short'),
  ],
}

const EDITS = ['write_file', 'edit_file', 'apply_patch', 'move_file', 'delete_file', 'make_dir']

/** @param layers if false, the user is asked in advance about every command that is not known to only read */
async function questions(calls: readonly Call[], mode: Mode, layers: boolean): Promise<number> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'mulligan-questions-')))
  const root = join(base, 'app')
  for (const [path, text] of Object.entries(PROJECT)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  for (const command of ['init -q', 'config user.name Ann', 'config user.email ann@example.org', 'add -A', 'commit -qm one'])
    execFileSync('git', command.split(' '), { cwd: root })
  const workspace = createWorkspace(root)
  const shell = shellTools({ workspace, layers, sandbox: () => createSandbox({ workspace: root, stateFolder: join(base, 'state') }) })
  try {
    const policy = shellPolicy(
      modePolicy(mode, (tool) => EDITS.includes(tool) || (layers && tool === 'bash')),
      { workspace: root },
    )
    const executor = createExecutor({ tools: [...fileTools(workspace), ...shell.tools], policy })
    let asked = 0
    for (const [at, [name, input]] of calls.entries()) {
      const prepared = await executor.prepare({ id: `s/1/${at}/0`, step: at, ordinal: 0, name, input })
      if (prepared.kind === 'approval') asked++
      const decided = prepared.kind === 'approval' ? await executor.decide(prepared.call, prepared.request, { answer: 'once' }) : prepared
      const performed = decided.kind === 'ready' ? await executor.perform(decided.call) : decided
      if (performed.kind === 'held') asked++
      const { result } = performed.kind === 'held' ? await executor.apply(performed, { answer: 'once' }) : performed.record
      if (!result.ok && result.status !== 'failed') throw new Error(`${name} ${JSON.stringify(input)}: ${render(result)}`)
    }
    return asked
  } finally {
    await shell.dispose()
    rmSync(base, { recursive: true, force: true })
  }
}

export async function bench(): Promise<Table> {
  const rows: Row[] = []
  for (const [subject, calls] of Object.entries(TASKS)) {
    const values: Record<string, number> = { calls: calls.length }
    for (const mode of ['ask', 'auto-edit'] as const)
      for (const layers of [false, true]) values[`\`${mode}\`${layers ? ', on layers' : ', before'}`] = await questions(calls, mode, layers)
    rows.push({ subject, values })
  }
  return { title: 'questions: how often a user is asked in a session', note: 'Each question is answered with "yes, once".', rows }
}
