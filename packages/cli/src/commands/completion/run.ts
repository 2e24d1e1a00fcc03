/** `mulligan completion` prints a script for a shell. The scripts call the hidden command, so they know about new flags and sessions. */
import { oneLine } from '@mulligan/host/light'
import type { Command } from 'commander'
import type { Output } from '../../ui/output.ts'
import { answerFor, complete, joined, type Shell } from './complete.ts'
import { valuesFor } from './values.ts'

export async function completionCommand(shell: Shell, { out }: Output): Promise<number> {
  out(SCRIPTS[shell])
  return 0
}

/** @param given the words after the program name, up to the one at the cursor */
export async function completeCommand(program: Command, shell: Shell, given: readonly string[], { out }: Output): Promise<number> {
  const words = shell === 'bash' ? joined(given) : given
  const completion = complete(program, words)
  const found = completion.wanted ? await valuesFor(completion.wanted, process.cwd()) : []
  const shown = (all: typeof found) => all.map(({ value, says = '' }) => ({ value, says: oneLine(says.split('\n')[0] ?? '', 70) }))
  out(answerFor(shell, words.at(-1) ?? '', { ...completion, candidates: shown(completion.candidates) }, shown(found)))
  return 0
}

const BASH = `# Completion of mulligan for bash. Put this into ~/.bashrc:  source <(mulligan completion bash)
_mulligan() {
  local IFS=$'\\n' lines
  COMPREPLY=()
  lines=($(mulligan __complete bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  case "\${lines[0]}" in
    :values) COMPREPLY=("\${lines[@]:1}") ;;
    :folders) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "\${COMP_WORDS[COMP_CWORD]}")) ;;
    :files) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}")) ;;
  esac
  case "\${COMPREPLY[0]}" in
    *=) compopt -o nospace 2>/dev/null ;;
  esac
}
complete -F _mulligan mulligan
`

const ZSH = `#compdef mulligan
# Completion of mulligan for zsh. Put this into ~/.zshrc, below compinit:  source <(mulligan completion zsh)
_mulligan() {
  local -a lines values
  local line
  lines=("\${(@f)$(mulligan __complete zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  case "\${lines[1]}" in
    :folders) _files -/; return ;;
    :files) _files; return ;;
  esac
  for line in "\${(@)lines[2,-1]}"; do
    values+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  _describe -t values mulligan values
}
if [ "\${funcstack[1]}" = "_mulligan" ]; then _mulligan "$@"; else compdef _mulligan mulligan; fi
`

const FISH = `# Completion of mulligan for fish:  mulligan completion fish > ~/.config/fish/completions/mulligan.fish
function __mulligan_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -e words[1]
    set -l lines (mulligan __complete fish -- $words "$current" 2>/dev/null)
    switch "$lines[1]"
        case ':folders'
            __fish_complete_directories "$current"
        case ':files'
            __fish_complete_path "$current"
        case '*'
            printf '%s\\n' $lines[2..-1]
    end
end
complete -c mulligan -f -a '(__mulligan_complete)'
`

const POWERSHELL = `# Completion of mulligan for PowerShell. Put this into $PROFILE:  mulligan completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName mulligan -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements | Select-Object -Skip 1 | Where-Object { $_.Extent.StartOffset -lt $cursorPosition } | ForEach-Object { "$_" })
    # An argument of no letters gets lost on its way to a program.
    $empty = @()
    if ($wordToComplete -eq '') { $empty = @('--empty') }
    $lines = @(& mulligan __complete powershell @empty -- @words 2>$null)
    if ($lines.Count -lt 2 -or $lines[0] -ne ':values') { return }
    $lines[1..($lines.Count - 1)] | ForEach-Object {
        $value, $says = $_ -split "\`t", 2
        if (-not $says) { $says = $value }
        [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $says)
    }
}
`

export const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH, powershell: POWERSHELL }
