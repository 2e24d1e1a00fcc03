/** The flags of `mulligan models`. */
import type { ModelsFlags } from '../commands/models.ts'
import { inFolder, type Register } from './register.ts'

export const addModels: Register = (program, { act, output }) => {
  inFolder(program.command('models').description('the models on this machine, and which is taken'))
    .option('--use <provider/name>', 'take this one from now on where no model is named')
    .action((flags: ModelsFlags) => act(async () => (await import('../commands/models.ts')).modelsCommand(flags, output)))
}
