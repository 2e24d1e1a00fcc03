/** The flags of `mulligan trust`. */
import { Option } from 'commander'
import type { TrustFlags } from '../commands/trust.ts'
import { inFolder, type Register } from './register.ts'

export const addTrust: Register = (program, { act, output }) => {
  inFolder(program.command('trust').description("show a folder's own tools and settings, and trust them"))
    .option('-y, --yes', 'do not ask for confirmation')
    .addOption(new Option('--list', 'show what is trusted').conflicts(['yes', 'remove']))
    .addOption(new Option('--remove', 'stop trusting this folder').conflicts(['yes']))
    .action((flags: TrustFlags) => act(async () => (await import('../commands/trust.ts')).trustCommand(flags, output)))
}
