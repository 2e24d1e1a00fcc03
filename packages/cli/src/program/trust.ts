/** The flags of `mulligan trust`. */
import { Option } from 'commander'
import type { TrustFlags } from '../commands/trust.ts'
import { inFolder, type Register } from './register.ts'

export const addTrust: Register = (program, { act, output }) => {
  inFolder(program.command('trust').description("let a folder's own tools and settings count, after showing what they are"))
    .option('-y, --yes', 'do not ask')
    .addOption(new Option('--list', 'show what is trusted').conflicts(['yes', 'remove']))
    .addOption(new Option('--remove', 'trust this folder no more').conflicts(['yes']))
    .action((flags: TrustFlags) => act(async () => (await import('../commands/trust.ts')).trustCommand(flags, output)))
}
