/** The tables of the page about the chat are those of the chat. */
import { describe, expect, it } from 'vitest'
import { COMMANDS, KEYS, usageOf } from '../packages/cli/src/chat/commands/table.ts'
import { pageText, tableUnder } from './page.fixture.ts'

describe('docs/terminal.md', () => {
  const page = pageText('docs/terminal.md')

  it('every key', () => {
    expect(tableUnder(page, 'Keys')).toEqual(KEYS.map((row) => [...row]))
  })

  it('every command, and what else it is called', () => {
    const also = (aliases: readonly string[] = []): string =>
      aliases.length === 0 ? '' : ` (also ${aliases.map((alias) => `/${alias}`).join(', ')})`
    expect(tableUnder(page, 'Commands')).toEqual(COMMANDS.map((one) => [usageOf(one), one.description + also(one.aliases)]))
  })
})
