/** The tables of the page about the chat are those of the chat. */
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { KEYS } from '../packages/cli/src/chat/commands/keys.ts'
import { COMMANDS, usageOf } from '../packages/cli/src/chat/commands/table.ts'
import { SIZES, STORIES } from '../packages/cli/src/chat/scenes/scenes.fixture.ts'
import { pageText, tableUnder } from './page.fixture.ts'

const kept = (size: string, scene: string): string =>
  fileURLToPath(new URL(`../packages/cli/src/chat/screens/${size}/${scene}.txt`, import.meta.url))

/** What a person sees in the chat. Each is played by `scenes.test.ts`, and its screen is kept in three sizes. */
const SCENES = [
  ...['start', 'first-answer', 'thinking', 'markdown', 'tables', 'code', 'wide-characters', 'hostile', 'streaming', 'interrupt'],
  ...['card-read', 'card-read-long', 'card-retry', 'card-search-empty', 'card-edit', 'diff', 'undo', 'card-bash', 'card-bash-failed'],
  ...['card-bash-long', 'card-in-full', 'loop-guard', 'subagents'],
  ...['approval-edit', 'approved', 'approval-hostile', 'denied', 'approval-bash', 'approval-external', 'question-of-the-model'],
  ...['steering', 'queue', 'own-shell', 'paste', 'completion', 'custom-command', 'init', 'provider-error', 'rate-limit', 'mode-switch'],
  ...['model-switch', 'themes', 'status', 'tools', 'cost', 'unknown-command', 'branch', 'rewind', 'resume-picker'],
  ...['ctrl-c-once', 'ctrl-c-twice', 'todo-panel', 'todo-list', 'compaction', 'budget', 'limits', 'mcp', 'plain'],
]

describe('docs/terminal.md', () => {
  const page = pageText('docs/terminal.md')

  it('every scene is played, and its screen is kept in each size', () => {
    expect(STORIES.flatMap(({ scenes }) => scenes.map(({ name }) => name))).toEqual(SCENES)
    expect(SCENES.length).toBeGreaterThanOrEqual(40)
    const missing = SIZES.flatMap((size) => SCENES.map((scene) => kept(size.join('x'), scene)).filter((path) => !existsSync(path)))
    expect(missing).toEqual([])
  })

  it.each([
    ['card-edit', '✓ edit_file', '\n\nEdited.'],
    ['plain', '> edit it', '\n>\n'],
  ])('shows the screen of %s', (scene, from, to) => {
    const screen = readFileSync(kept('80x24', scene), 'utf8')
    expect(page).toContain(screen.slice(screen.indexOf(from), screen.lastIndexOf(to)))
  })

  it('every key', () => {
    expect(tableUnder(page, 'Keys')).toEqual(KEYS.map((row) => [...row]))
  })

  it('every command, and what else it is called', () => {
    const also = (aliases: readonly string[] = []): string =>
      aliases.length === 0 ? '' : ` (also ${aliases.map((alias) => `/${alias}`).join(', ')})`
    expect(tableUnder(page, 'Commands')).toEqual(COMMANDS.map((one) => [usageOf(one), one.description + also(one.aliases)]))
  })
})
