/** The flags of `mulligan doctor`. */
import type { DoctorFlags } from '../commands/doctor/doctor.ts'
import { inFolder, type Register } from './register.ts'

export const addDoctor: Register = (program, { act, output }) => {
  inFolder(program.command('doctor').description('check the setup, and what the sandbox enforces')).action((flags: DoctorFlags) =>
    act(async () => (await import('../commands/doctor/doctor.ts')).doctor(flags, output)),
  )
}
