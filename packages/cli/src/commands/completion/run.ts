/** `mulligan completion`, and the hidden command that its scripts ask at each press of the key. */

import { oneLine } from '@mulligan/host/light'
import type { Command } from 'commander'
import type { Output } from '../../ui/output.ts'
import { complete } from './complete.ts'
import { SCRIPTS } from './scripts.ts'
import { valuesFor } from './values.ts'
import { answerFor, joined, type Shell } from './words.ts'

export async function completionCommand(shell: Shell, { out }: Output): Promise<number> {
  out(SCRIPTS[shell])
  return 0
}

/** @param given the words after the name of the program, up to the one at the cursor */
export async function completeCommand(program: Command, shell: Shell, given: readonly string[], { out }: Output): Promise<number> {
  const words = shell === 'bash' ? joined(given) : given
  const completion = complete(program, words)
  const found = completion.wanted ? await valuesFor(completion.wanted, process.cwd()) : []
  const shown = (all: typeof found) => all.map(({ value, says = '' }) => ({ value, says: oneLine(says.split('\n')[0] ?? '', 70) }))
  out(answerFor(shell, words.at(-1) ?? '', { ...completion, candidates: shown(completion.candidates) }, shown(found)))
  return 0
}
