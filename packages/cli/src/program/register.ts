/** Helpers shared by the command definitions. */
import { type Command, InvalidArgumentError } from 'commander'
import { choicesOf } from '../config-keys.ts'
import type { Output } from '../ui/output.ts'

export interface Wiring {
  /** Runs a command and keeps its exit code. */
  readonly act: (action: () => Promise<number>) => Promise<void>
  readonly output: Output
}

/** A flag with the same choices as a configuration key. The choices are looked up only when the flag is given, so startup reads no schema. */
export const oneOf =
  (key: string) =>
  (text: string): string => {
    const choices = choicesOf(key)
    if (!choices.includes(text)) throw new InvalidArgumentError(`Allowed choices are ${choices.join(', ')}.`)
    return text
  }

/** Whether a user is at the terminal, so that a chat can be opened. */
export const isAtTerminal = (): boolean => process.stdin.isTTY === true && process.stdout.isTTY === true

/** Adds a command and its flags. The implementation is loaded when the command runs. */
export type Register = (program: Command, wiring: Wiring) => void

export const inFolder = (command: Command): Command =>
  command.option('--cwd <dir>', 'the folder to work in').option('--json', 'print JSON to stdout')

export function positiveInteger(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It must be a whole number of at least 1.')
  return Number(text)
}

const MAX_SECONDS = 1_000_000

export function seconds(text: string): number {
  const value = Number(text)
  if (!/^\d+(?:\.\d+)?$/.test(text) || value <= 0 || value > MAX_SECONDS)
    throw new InvalidArgumentError(`It must be a number of seconds above 0 and at most ${MAX_SECONDS}.`)
  return value
}
