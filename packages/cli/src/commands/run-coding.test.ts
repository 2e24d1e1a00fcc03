/**
 * Tests a whole task with every kind of tool: find, read, patch, see what the patch broke, fix it, run the project's check, commit, and
 * undo it all.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { call, type RecordedRequest, say, scriptedModel } from '@mulligan/testing'
import { expect, it } from 'vitest'
import { type CliFixture, place, using } from '../../test/cli.fixture.ts'

const PRICE = `export function discounted(price, percent) {
  return price * (1 + percent / 100)
}
`
const FILES = {
  'src/price.js': PRICE,
  'check.js': `import { discounted } from './src/price.js'
const got = discounted(10, 25)
if (got !== 7.5) { console.error('wrong: ' + got); process.exit(1) }
console.log('right')
`,
  'package.json': '{ "type": "module" }\n',
  'AGENTS.md': 'Run the check before you commit.\n',
  '.mulligan/config.json': `{
  // What says whether a file is whole.
  "diagnostics": [{ "include": "*.js", "command": ["node", "--check", "{file}"] }]
}
`,
  '.mulligan/tools/run_check.js': `import { spawnSync } from 'node:child_process'
import { defineTool, ok, ToolFailure } from '@mulligan/core'
import { z } from 'zod'
export default defineTool({
  name: 'run_check',
  description: 'Runs the check of the project.',
  effect: 'read',
  input: z.object({}),
  execute: () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['check.js'], { encoding: 'utf8' })
    if (status !== 0) throw new ToolFailure(stderr.trim())
    return ok(stdout.trim())
  },
})
`,
}

const patch = `*** Begin Patch
*** Update File: src/price.js
@@ export function discounted(price, percent) {
-  return price * (1 + percent / 100)
+  return price * (1 - percent / 100
*** Add File: CHANGES.md
+- A discount makes things cheaper.
*** End Patch`

function repository(here: CliFixture): (...args: string[]) => string {
  const env = { PATH: process.env['PATH'] ?? '', HOME: join(here.dir, '..') }
  writeFileSync(join(env.HOME, '.gitconfig'), '[user]\n\tname = A Person\n\temail = person@example.org\n')
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: here.dir, env, encoding: 'utf8' }).trim()
  git('init', '--quiet', '--initial-branch=main')
  git('add', '--all')
  git('commit', '--quiet', '--message=Begin')
  return git
}

const said = (request: RecordedRequest | undefined): string =>
  JSON.stringify((request?.body as { messages: readonly unknown[] }).messages.at(-1))

it('finds, reads, patches, is told what broke, repairs, checks and commits', async () => {
  using here = place(FILES)
  expect((await here.run(['trust', '--yes'])).code).toBe(0)
  const git = repository(here)
  const repaired = { old_text: '(1 - percent / 100', new_text: '(1 - percent / 100)' }
  await using model = await scriptedModel([
    { ...say(''), calls: [{ name: 'grep', input: { pattern: 'discounted' } }, { name: 'run_check' }] },
    call('read_file', { path: 'src/price.js' }),
    call('apply_patch', { patch }),
    call('edit_file', { path: 'src/price.js', edits: [repaired] }),
    call('run_check'),
    call('git_commit', { message: 'A discount makes things cheaper', all: true }),
    say('Repaired and committed.'),
  ])
  const ended = await here.run(['The check fails. Repair it and commit.', '--yes', ...using(model)])
  model.assertDone()
  expect(ended).toMatchObject({ code: 0, stdout: 'Repaired and committed.\n' })
  const [first, found, , patched, , checked, committed] = model.requests
  expect(JSON.stringify(first?.body)).toContain('Run the check before you commit.')
  expect(said(found)).toContain('wrong: 12.5')
  expect(said(patched)).toMatch(/SyntaxError/)
  expect(said(checked)).toContain('right')
  expect(said(committed)).toContain('A discount makes things cheaper')
  expect(readFileSync(join(here.dir, 'src/price.js'), 'utf8')).toBe(PRICE.replace('1 +', '1 -'))
  expect([git('log', '--format=%s'), git('status', '--porcelain')]).toEqual(['A discount makes things cheaper\nBegin', ''])

  const undone = await here.run(['undo'])
  expect(undone.code).toBe(0)
  expect([readFileSync(join(here.dir, 'src/price.js'), 'utf8'), here.has('CHANGES.md')]).toEqual([PRICE, false])
  expect(
    git('status', '--porcelain')
      .split('\n')
      .map((line) => line.trim()),
  ).toEqual(['D CHANGES.md', 'M src/price.js'])
})
