/** The flags of `mulligan undo`, `redo` and `diff`. */
import { Option } from 'commander'
import type { DiffFlags } from '../commands/diff.ts'
import type { UndoFlags } from '../commands/undo.ts'
import { inFolder, type Register } from './register.ts'

export const addChanges: Register = (program, { act, output }) => {
  inFolder(
    program
      .command('undo')
      .description('take back what a turn changed')
      .argument('[turn]', 'which; default: the last one that is not undone yet'),
  )
    .addOption(new Option('--list', 'show the turns that changed something here').conflicts('force'))
    .option('--force', 'overwrite what others have changed since')
    .action((turn: string | undefined, flags: UndoFlags) =>
      act(async () => (await import('../commands/undo.ts')).undoCommand('undo', turn, flags, output)),
    )
  inFolder(
    program.command('redo').description('make again what was undone').argument('[turn]', 'which; default: the one that was undone last'),
  )
    .option('--force', 'overwrite what others have changed since')
    .action((turn: string | undefined, flags: UndoFlags) =>
      act(async () => (await import('../commands/undo.ts')).undoCommand('redo', turn, flags, output)),
    )
  inFolder(
    program.command('diff').description('see what a turn changed').argument('[turn]', 'which; default: the last one that is not undone'),
  )
    .option('--stat', 'only how much, file by file')
    .action((turn: string | undefined, flags: DiffFlags) =>
      act(async () => (await import('../commands/diff.ts')).diffCommand(turn, flags, output)),
    )
}
