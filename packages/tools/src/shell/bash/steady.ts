/** Whether the last command of a script surely says its exit code, and is the program that its name says. Pure. */
import { type SimpleCommand, started } from '../common/simple-commands.ts'

/** They end the script elsewhere, or change what a name stands for. */
const UNSTEADY = new Set('exit return logout trap exec kill eval source . alias unalias enable'.split(' '))

/** They give variables that are named by their arguments a value. */
const SETTERS = /^(?:read|mapfile|readarray|printf|unset|getopts)$/

export const isSteady = (commands: readonly SimpleCommand[]): boolean => !commands.some(isUnsteady)

function isUnsteady(command: SimpleCommand): boolean {
  const { name, words } = started(command)
  const args = words.slice(1).map(({ value }) => value)
  return (
    command.defines === true ||
    command.sets.includes('PATH') ||
    command.words.some(({ value }) => /^PATH\+?=/.test(value)) ||
    [...before(command), name].some((one) => UNSTEADY.has(one)) ||
    // Which it is shows when it runs.
    /[$`*?[]/.test(name.replace(/^\[\[?$/, '')) ||
    (name === 'set' && args.some((word) => /^-\w*e|errexit|[$`]/.test(word))) ||
    (name === 'hash' && args.some((word) => word.startsWith('-'))) ||
    (SETTERS.test(name) && args.includes('PATH'))
  )
}

/** The shell finds it by its plain name, and so each program before it. */
export const isPlain = (command: SimpleCommand): boolean =>
  ![...before(command), started(command).words[0]?.value ?? ''].some((word) => word.includes('/') && !/=|^-/.test(word))

/** What only starts it, with options. */
const before = (command: SimpleCommand): string[] =>
  command.words.slice(0, command.words.length - started(command).words.length).map(({ value }) => value)
