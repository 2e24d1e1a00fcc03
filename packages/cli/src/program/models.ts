/** The flags of `mulligan models`. */
import type { ModelsFlags } from '../commands/models.ts'
import { inFolder, type Register } from './register.ts'

export const addModels: Register = (program, { act, output }) => {
  inFolder(program.command('models').description('list the models on this machine, and show which one is used'))
    .option('--use <provider/name>', 'use this model from now on when none is named')
    .action((flags: ModelsFlags) => act(async () => (await import('../commands/models.ts')).modelsCommand(flags, output)))
}
