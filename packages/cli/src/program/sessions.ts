/** The flags of `mulligan sessions`. */
import type { SessionsFlags } from '../commands/sessions.ts'
import { inFolder, type Register } from './register.ts'

export const addSessions: Register = (program, { act, output }) => {
  inFolder(program.command('sessions').description('the sessions of the folder, to go on with')).action((flags: SessionsFlags) =>
    act(async () => (await import('../commands/sessions.ts')).sessionsCommand(flags, output)),
  )
}
