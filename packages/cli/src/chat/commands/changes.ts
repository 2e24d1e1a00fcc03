/** `/undo`, `/redo` and `/diff`, for this session unless a turn is named, and `/keep` for ignored files. */

import { oneLine, UsageError } from '@mulligan/host/light'
import { createChangeLog } from '@mulligan/tools'
import type { ChatControl, SlashCommand } from './command.ts'

type Purpose = 'undo' | 'redo' | 'diff'

export const undo: SlashCommand = {
  name: 'undo',
  usage: '[TURN]',
  description: 'undo the changes of the last turn',
  run: (turn, chat) => undoOrRedo('undo', turn, chat),
}

export const redo: SlashCommand = {
  name: 'redo',
  usage: '[TURN]',
  description: 'restore changes that were undone',
  run: (turn, chat) => undoOrRedo('redo', turn, chat),
}

export const diff: SlashCommand = {
  name: 'diff',
  usage: '[TURN]',
  description: 'show what the last turn changed',
  run: async (turn, chat) => {
    const { diffCommand } = await import('../../commands/diff.ts')
    await diffCommand(turn || (await lastOf(chat, 'diff')), { cwd: chat.cwd }, chat.output)
  },
}

export const keep: SlashCommand = {
  name: 'keep',
  description: 'copy ignored files that commands changed, such as build output, into the workspace; undo does not revert this',
  run: async (_, { ignored, say }) => {
    const kept = await ignored.keep()
    if (kept.length === 0)
      throw new UsageError('there is nothing to keep', 'No command of this session has changed files that git ignores.')
    say(...kept.map((line) => oneLine(line, 400)))
  },
}

/** `--force`: what a refusal for what others have changed since says. */
async function undoOrRedo(kind: 'undo' | 'redo', args: string, chat: ChatControl): Promise<void> {
  const { undoCommand } = await import('../../commands/undo.ts')
  const words = args.split(/\s+/)
  const turn = words.filter((word) => word !== '--force').join(' ')
  await undoCommand(kind, turn || (await lastOf(chat, kind)), { cwd: chat.cwd, force: words.includes('--force') }, chat.output)
}

/** The last turn of this session that fits. What another session changed is not taken back unless it is named. */
async function lastOf({ cwd, data, session }: ChatControl, purpose: Purpose): Promise<string> {
  const { readTurns } = await import('../../commands/turn.ts')
  const turns = await readTurns(createChangeLog({ dir: data.changes, root: cwd }))
  const mine = turns.filter(({ turn }) => turn.startsWith(`${session()}/`))
  const fits = mine.filter(({ undone, redoable }) => (purpose === 'redo' ? redoable : !undone))
  const [what] = [{ undo: 'undo', redo: 'redo', diff: 'show' }[purpose]]
  const found = fits.at(-1)
  if (!found)
    throw new UsageError(
      `there is nothing to ${what} in this session`,
      'mulligan undo --list shows the turns of all sessions of this folder; name one here.',
    )
  return found.turn
}
