/** What the command says of itself. */
import { ROOT, runShell } from './run.fixture.ts'

const helps = new Map<string, Promise<string>>()

/** What `mulligan COMMAND --help` prints. */
export function help(...command: string[]): Promise<string> {
  const key = command.join(' ')
  const known = helps.get(key) ?? runShell(`mulligan ${key} --help`, ROOT).then(({ stdout }) => stdout)
  helps.set(key, known)
  return known
}

/** The flags that a help text lists. */
export const flagsIn = (helpText: string): string[] =>
  [...helpText.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(([, flag]) => flag as string)

/** The commands that a help text lists. */
export const commandsIn = (helpText: string): string[] => {
  const [, rest = ''] = helpText.split('\nCommands:\n')
  const [list = ''] = rest.split('\n\n')
  return [...list.matchAll(/^ {2}([\w-]+)/gm)].map(([, name]) => name as string)
}

/** What a command alone stands for. */
const ALONE: Readonly<Record<string, string>> = { sessions: 'list', config: 'show' }

/** What in the words after `mulligan` is not a command, or no flag of that command. */
export async function unknownFlags(all: readonly string[]): Promise<string[]> {
  // What is after it is another's.
  const words = all.includes('--') ? all.slice(0, all.indexOf('--')) : all
  const names = commandsIn(await help())
  const [first = ''] = words
  if (first.startsWith('-')) return words.filter((word) => word.startsWith('-') && !['--help', '--version', '-h', '-V'].includes(word))
  if (!names.includes(first) && !/\s|NAME/.test(first)) return [`${first} (no command)`]
  const command = names.includes(first) ? [first] : ['run']
  const inner = commandsIn(await help(...command))
  const alone = words[1] === undefined || words[1].startsWith('-') ? ALONE[first] : undefined
  if (alone !== undefined) command.push(alone)
  else if (inner.length > 0) {
    if (!inner.includes(words[1] ?? '')) return [`${first} ${words[1]} (no command)`]
    command.push(words[1] as string)
  }
  const flags = flagsIn(await help(...command))
  return words.filter((word) => word.startsWith('--') && !flags.includes(word.split('=')[0] as string))
}
