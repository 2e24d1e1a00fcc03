/** The flags of `mulligan demo`. */
import type { DemoFlags } from '../demo/demo.ts'
import type { Register } from './register.ts'

export const addDemo: Register = (program, { act, output }) => {
  program
    .command('demo')
    .description('see Mulligan work, with a scripted model and no API key')
    .option(
      '--without <catch>',
      'turn off one protection and see what happens: wrong-path, number-as-text, unknown-tool,\nempty-search, failing-edit, alias, same-call-again',
    )
    .action((flags: DemoFlags) => act(async () => (await import('../demo/demo.ts')).demo(flags, output)))
}
