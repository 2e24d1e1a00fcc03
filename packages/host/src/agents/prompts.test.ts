/** Slash commands of files, ours and those of Claude Code, from real folders. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { promptCommandNamed, promptCommands, promptFor } from './prompts.ts'

const roots: string[] = []
afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true })
})

/** @param files by their path; those of the user begin with `home/`, those of the project with `work/` */
async function commandsOf(files: Readonly<Record<string, string>>) {
  const root = mkdtempSync(join(tmpdir(), 'commands-'))
  roots.push(root)
  mkdirSync(join(root, 'work'))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return { root, ...(await promptCommands(join(root, 'work'), { HOME: join(root, 'home'), XDG_CONFIG_HOME: join(root, 'home/.config') })) }
}

it.skipIf(process.platform !== 'linux')(
  'are read from four folders, in which the user comes first and ours before the others',
  async () => {
    const { commands, problems } = await commandsOf({
      'home/.config/mulligan/commands/a.md': 'mine',
      'home/.claude/commands/a.md': 'never',
      'home/.claude/commands/b.md': 'mine too',
      'work/.mulligan/commands/b.md': 'never',
      'work/.mulligan/commands/c.md': 'ours',
      'work/.claude/commands/c.md': 'never',
      'work/.claude/commands/d.md': 'theirs',
    })
    expect(commands.map(({ name, text, untrusted }) => [name, text, untrusted])).toEqual([
      ['a', 'mine', undefined],
      ['b', 'mine too', undefined],
      ['c', 'ours', undefined],
      // The model may write there.
      ['d', 'theirs', true],
    ])
    expect(problems.map(({ error }) => error)).toEqual([
      '/a is already defined in ~/.config/mulligan/commands/a.md',
      '/b is already defined in ~/.claude/commands/b.md',
      '/c is already defined in .mulligan/commands/c.md',
    ])
  },
)

it('have the names of their folders before theirs, which may be left out if that names one only', async () => {
  const { commands, problems } = await commandsOf({
    'work/.claude/commands/web/Fix.md': 'the web',
    'work/.claude/commands/web/test.md': 'test the web',
    'work/.claude/commands/api/test.md': 'test the API',
    'work/.claude/commands/a/b/c/d/deep.md': 'never',
    'work/.claude/commands/Two Words/x.md': 'never',
  })
  expect(commands.map(({ name }) => name)).toEqual(['api:test', 'web:fix', 'web:test'])
  expect(['web:fix', 'fix', 'test', 'api:test', 'web'].map((name) => promptCommandNamed(commands, name)?.text)).toEqual([
    ...['the web', 'the web', undefined, 'test the API', undefined],
  ])
  expect(problems).toEqual([expect.objectContaining({ error: 'its name must consist of letters, digits, - and _' })])
})

it.each([
  ['argument-hint: "[ISSUE]"', '[ISSUE]'],
  // A list in YAML.
  ['argument-hint: [issue]', '[issue]'],
  ['argument-hint: [from, to]', '[from, to]'],
  // Not YAML.
  ['argument-hint: [from] [to]', '[from] [to]'],
  ['description: Fix: it\nargument-hint: NUMBER', 'NUMBER'],
  ['argument-hint: { a: 1 }', undefined],
])('tell what they take: %j', async (fields, usage) => {
  const { commands, problems } = await commandsOf({
    'work/.claude/commands/fix.md': `---\n${fields}\nallowed-tools: Bash(git:*)\n---\nFix it.`,
  })
  expect([commands[0]?.usage, commands[0]?.text, problems]).toEqual([usage, 'Fix it.', []])
})

it('are not read through links that leave the project', async () => {
  const { root } = await commandsOf({ 'home/secret.md': 'secret', 'home/more/x.md': 'secret', 'work/.claude/commands/ok.md': 'fine' })
  symlinkSync(join(root, 'home/secret.md'), join(root, 'work/.claude/commands/leak.md'))
  symlinkSync(join(root, 'home/more'), join(root, 'work/.claude/commands/more'))
  const { commands, problems } = await promptCommands(join(root, 'work'), { HOME: join(root, 'home') })
  expect(commands.map(({ name }) => name)).toEqual(['ok'])
  expect(problems).toEqual([{ file: '.claude/commands/leak.md', error: 'it is not readable text' }])
})

it.each([
  ['Fix $1 of $2.', '12 "the app"', 'Fix 12 of the app.'],
  ['Fix $ARGUMENTS.', '12 now', 'Fix 12 now.'],
  ['Fix it.', '12', 'Fix it.\n\n12'],
  ['Fix $1.', '', 'Fix .'],
  ['State: !`git status`', '', 'State: !`git status`\n\n(The commands in !`…` have not been run. Run them if you need their output.)'],
  ['Say "hi!`" and `ls`.', '', 'Say "hi!`" and `ls`.'],
])('%j with %j is %j', (text, args, message) => expect(promptFor({ text }, args)).toBe(message))
