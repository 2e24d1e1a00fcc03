/** Exit codes that are an answer and no failure: grep found nothing, diff found a difference. Pure. */
import { type SimpleCommand, started } from '../common/simple-commands.ts'
import { isPlain, isSteady } from './steady.ts'

export interface Answer {
  readonly says: string
  /** It looked for something: nothing found is count 0. */
  readonly search: boolean
}

const NO_MATCH: Answer = { says: 'No match', search: true }
const NOT_FOUND: Answer = { says: 'Not found', search: true }
const DIFFER: Answer = { says: 'They differ', search: false }
const FALSE: Answer = { says: 'False', search: false }

/** At exit code 1, by program. */
const AT_1: Readonly<Record<string, Answer>> = {
  ...all('grep egrep fgrep zgrep bzgrep xzgrep rg ag ack pgrep lsof', NO_MATCH),
  ...all('which type hash', NOT_FOUND),
  ...all('diff cmp colordiff sdiff zdiff', DIFFER),
  ...all('test [ [[ (( let expr', FALSE),
}

/** The same, by subcommand and the options that make it ask. */
const GIT: Readonly<Record<string, { readonly answer: Answer; readonly with?: RegExp }>> = {
  grep: { answer: NO_MATCH },
  diff: { answer: DIFFER, with: /^--(?:exit-code|quiet|no-index)$/ },
  'diff-index': { answer: DIFFER, with: /^--(?:exit-code|quiet)$/ },
  'diff-files': { answer: DIFFER, with: /^--(?:exit-code|quiet)$/ },
  'merge-base': { answer: FALSE, with: /^--is-ancestor$/ },
  'check-ignore': { answer: NOT_FOUND },
  'show-ref': { answer: NOT_FOUND },
  config: { answer: NOT_FOUND },
  'ls-remote': { answer: NOT_FOUND, with: /^--exit-code$/ },
}

/** They fail with words, so a silent 1 is not theirs. */
const OUTSPOKEN = new Set('cd pushd popd echo printf export set shopt source . mkdir true : pwd ls cat head tail sort uniq wc'.split(' '))

/**
 * What a silent exit code says where it can only come from commands that answer with it.
 * @param commands of the whole script
 */
export function answerOf(commands: readonly SimpleCommand[], exitCode: number, stderr: string): Answer | undefined {
  if (!isSteady(commands)) return undefined
  const last = commands.filter(({ ends }) => ends)
  const answers = last
    .filter((one) => !isPlain(one) || !OUTSPOKEN.has(started(one).name))
    .map((one) => (isPlain(one) ? answerAt(started(one), exitCode) : undefined))
  const answer = answers.at(-1)
  if (answer === undefined || answers.includes(undefined)) return undefined
  // Some say in words that there is no such program; with others words mean trouble.
  const inWords = answer === NOT_FOUND && answers.length === last.length
  return stderr.trim() === '' || inWords ? answer : undefined
}

const XARGS_VALUE = /^-[adEILnPs]$|^--(?:arg-file|delimiter|max-(?:args|chars|lines|procs)|replace)$/

function answerAt(command: SimpleCommand, exitCode: number): Answer | undefined {
  const [, ...args] = command.words.map(({ value }) => value)
  // xargs says 123 where any of its commands said 1.
  if (command.name === 'xargs' && exitCode === 123) {
    const of = args.find((word, at) => !word.startsWith('-') && !XARGS_VALUE.test(args[at - 1] ?? '')) ?? ''
    return Object.hasOwn(AT_1, of) && AT_1[of]?.search === true ? AT_1[of] : undefined
  }
  if (exitCode !== 1) return undefined
  if (command.name === 'git') {
    const at = args.findIndex((word, index) => !word.startsWith('-') && !/^-[cC]$/.test(args[index - 1] ?? ''))
    const known = at === -1 || !Object.hasOwn(GIT, args[at] as string) ? undefined : GIT[args[at] as string]
    return known && (!known.with || args.slice(at).some((word) => known.with?.test(word))) ? known.answer : undefined
  }
  if (command.name === 'command') return args.some((word) => /^-\w*[vV]/.test(word)) ? NOT_FOUND : undefined
  if (command.name === 'jq') return args.some((word) => /^(?:-\w*e\w*|--exit-status)$/.test(word)) ? FALSE : undefined
  return Object.hasOwn(AT_1, command.name) ? AT_1[command.name] : undefined
}

function all(names: string, answer: Answer): Record<string, Answer> {
  return Object.fromEntries(names.split(' ').map((name) => [name, answer]))
}
