/** The flags of `mulligan completion`, and the hidden command behind it. */
import { Argument } from 'commander'
import type { Shell } from '../commands/completion/words.ts'
import type { Register } from './register.ts'

const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const satisfies readonly Shell[]

export const addCompletion: Register = (program, { act, output }) => {
  program
    .command('completion')
    .description('print the completion script for your shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .action((shell: Shell) => act(async () => (await import('../commands/completion/run.ts')).completionCommand(shell, output)))
    .addHelpText('after', COMPLETION_HELP)
  program
    .command('__complete', { hidden: true })
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .argument('[words...]')
    .option('--empty', 'the word at the cursor is empty')
    .action((shell: Shell, words: string[], { empty = false }: { readonly empty?: boolean }) =>
      act(async () =>
        (await import('../commands/completion/run.ts')).completeCommand(program, shell, empty ? [...words, ''] : words, output),
      ),
    )
}

const COMPLETION_HELP = `
Setup:
  bash         source <(mulligan completion bash)                    in ~/.bashrc
  zsh          source <(mulligan completion zsh)                     in ~/.zshrc, below compinit
  fish         mulligan completion fish > ~/.config/fish/completions/mulligan.fish
  powershell   mulligan completion powershell | Out-String | Invoke-Expression     in $PROFILE`
