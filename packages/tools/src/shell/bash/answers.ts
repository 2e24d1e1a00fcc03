/** Recognises exit codes that are a result rather than a failure: grep found nothing, diff found a difference. Pure. */
import { type SimpleCommand, started } from '../common/simple-commands.ts'

interface Answer {
  readonly says: string
  /** The command searched for something; finding nothing means count 0. */
  readonly search: boolean
}

const NO_MATCH: Answer = { says: 'No match', search: true }
const NOT_FOUND: Answer = { says: 'Not found', search: true }
const DIFFER: Answer = { says: 'They differ', search: false }
const FALSE: Answer = { says: 'False', search: false }

/** Programs whose exit code 1 is a result. With a pattern, only if one of the arguments matches it. */
const ANSWERS: readonly (readonly [names: string, Answer, RegExp?])[] = [
  ['grep egrep fgrep zgrep bzgrep xzgrep rg ag ack pgrep lsof', NO_MATCH],
  ['which type hash', NOT_FOUND],
  ['diff cmp colordiff sdiff zdiff', DIFFER],
  ['test [ [[ (( let expr', FALSE],
  ['command', NOT_FOUND, /^-\w*[vV]/],
  ['jq', FALSE, /^(?:-\w*e\w*|--exit-status)$/],
]
/** The same for git subcommands. */
const OF_GIT: typeof ANSWERS = [
  ['grep', NO_MATCH],
  ['diff', DIFFER, /^--(?:exit-code|quiet|no-index)$/],
  ['diff-index diff-files', DIFFER, /^--(?:exit-code|quiet)$/],
  ['merge-base', FALSE, /^--is-ancestor$/],
  ['check-ignore show-ref config', NOT_FOUND],
  ['ls-remote', NOT_FOUND, /^--exit-code$/],
]
const answerIn = (table: typeof ANSWERS, name: string, args: readonly string[]): Answer | undefined =>
  table.find(([names, , pattern]) => names.split(' ').includes(name) && (!pattern || args.some((word) => pattern.test(word))))?.[1]

/** Programs that print a message when they fail, so a silent exit code 1 does not come from them. */
const OUTSPOKEN = new Set('cd pushd popd echo printf export set shopt source . mkdir true : pwd ls cat head tail sort uniq wc'.split(' '))

/**
 * Interprets a silent exit code if it can only come from commands that use it as a result.
 * @param commands all commands of the script
 */
export function answerOf(commands: readonly SimpleCommand[], exitCode: number, stderr: string): Answer | undefined {
  if (commands.some(isUnsteady)) return undefined
  const last = commands.filter(({ ends }) => ends)
  const answers = last
    .filter((one) => !isPlain(one) || !OUTSPOKEN.has(started(one).name))
    .map((one) => (isPlain(one) ? answerAt(started(one), exitCode) : undefined))
  const answer = answers.at(-1)
  if (answer === undefined || answers.includes(undefined)) return undefined
  // Some programs print that nothing was found; with the others, text on stderr means an error.
  const inWords = answer === NOT_FOUND && answers.length === last.length
  return stderr.trim() === '' || inWords ? answer : undefined
}

const XARGS_VALUE = /^-[adEILnPs]$|^--(?:arg-file|delimiter|max-(?:args|chars|lines|procs)|replace)$/

function answerAt({ name, words }: SimpleCommand, exitCode: number): Answer | undefined {
  const args = words.slice(1).map(({ value }) => value)
  // xargs exits with 123 if any of its commands exited with 1 to 125.
  if (name === 'xargs' && exitCode === 123) {
    const of = args.find((word, at) => !word.startsWith('-') && !XARGS_VALUE.test(args[at - 1] ?? '')) ?? ''
    const answer = answerIn(ANSWERS, of, [])
    return answer?.search ? answer : undefined
  }
  if (exitCode !== 1) return undefined
  if (name !== 'git') return answerIn(ANSWERS, name, args)
  const at = args.findIndex((word, index) => !word.startsWith('-') && !/^-[cC]$/.test(args[index - 1] ?? ''))
  return at === -1 ? undefined : answerIn(OF_GIT, args[at] as string, args.slice(at))
}

/** Commands that end the script elsewhere or change what a name refers to. */
const UNSTEADY = new Set('exit return logout trap exec kill eval source . alias unalias enable'.split(' '))
/** Commands that assign to variables named by their arguments. */
const SETTERS = /^(?:read|mapfile|readarray|printf|unset|getopts)$/

/** True if, because of this command, the exit code may not come from the last command, or a name may refer to another program. */
function isUnsteady(command: SimpleCommand): boolean {
  const { name, words } = started(command)
  const args = words.slice(1).map(({ value }) => value)
  return (
    command.defines === true ||
    command.sets.includes('PATH') ||
    command.words.some(({ value }) => /^PATH\+?=/.test(value)) ||
    [...before(command), name].some((one) => UNSTEADY.has(one)) ||
    // The name is only known at run time.
    /[$`*?[]/.test(name.replace(/^\[\[?$/, '')) ||
    (name === 'set' && args.some((word) => /^-\w*e|errexit|[$`]/.test(word))) ||
    (name === 'hash' && args.some((word) => word.startsWith('-'))) ||
    (SETTERS.test(name) && args.includes('PATH'))
  )
}

/** True if the shell finds the command, and every program before it, by its plain name. */
const isPlain = (command: SimpleCommand): boolean =>
  ![...before(command), started(command).words[0]?.value ?? ''].some((word) => word.includes('/') && !/=|^-/.test(word))

/** Returns the words before the actual command: the programs that start it, with their options. */
const before = (command: SimpleCommand): string[] =>
  command.words.slice(0, command.words.length - started(command).words.length).map(({ value }) => value)
