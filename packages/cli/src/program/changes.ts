/** The flags of `mulligan undo`, `redo` and `diff`. */
import { Option } from 'commander'
import type { DiffFlags } from '../commands/diff.ts'
import type { UndoFlags } from '../commands/undo.ts'
import { inFolder, type Register } from './register.ts'

export const addChanges: Register = (program, { act, output }) => {
  inFolder(
    program
      .command('undo')
      .description('undo the file changes of a turn')
      .argument('[turn]', 'the turn to undo (default: the latest that is not undone)'),
  )
    .addOption(new Option('--list', 'list the turns that changed files in this folder').conflicts('force'))
    .option('--force', 'overwrite later changes by others')
    .action((turn: string | undefined, flags: UndoFlags) =>
      act(async () => (await import('../commands/undo.ts')).undoCommand('undo', turn, flags, output)),
    )
  inFolder(
    program
      .command('redo')
      .description('restore changes that were undone')
      .argument('[turn]', 'the turn to redo (default: the one undone last)'),
  )
    .option('--force', 'overwrite later changes by others')
    .action((turn: string | undefined, flags: UndoFlags) =>
      act(async () => (await import('../commands/undo.ts')).undoCommand('redo', turn, flags, output)),
    )
  inFolder(
    program
      .command('diff')
      .description('show what a turn changed')
      .argument('[turn]', 'the turn to show (default: the latest that is not undone)'),
  )
    .option('--stat', 'show only the number of changed lines per file')
    .action((turn: string | undefined, flags: DiffFlags) =>
      act(async () => (await import('../commands/diff.ts')).diffCommand(turn, flags, output)),
    )
}
