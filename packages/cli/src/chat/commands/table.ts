/** The slash commands, in the order of the help. A new one is a line here. */
import { nearest } from '@mulligan/core'
import { oneLine, UsageError } from '@mulligan/host/light'
import type { Row } from '../view.ts'
import { diff, keep, redo, undo } from './changes.ts'
import { agent, mode, model } from './choices.ts'
import type { SlashCommand } from './command.ts'
import { compact } from './compact.ts'
import { status, tools } from './look.ts'
import { clear, goOn, resume, sessions } from './sessions.ts'

const help: SlashCommand = {
  name: 'help',
  aliases: ['?'],
  description: 'the commands and the keys',
  anytime: true,
  run: (_, { sayRows }) => sayRows([...COMMANDS.map((one): Row => [usageOf(one), one.description]), ['', ''], ...KEYS]),
}

const quit: SlashCommand = {
  name: 'quit',
  aliases: ['exit', 'q'],
  description: 'leave; the session can be continued',
  anytime: true,
  run: (_, { leave }) => leave(),
}

export const COMMANDS: readonly SlashCommand[] = [
  help,
  model,
  mode,
  agent,
  tools,
  status,
  undo,
  redo,
  diff,
  keep,
  compact,
  clear,
  sessions,
  resume,
  goOn,
  quit,
]

export const usageOf = ({ name, usage }: SlashCommand): string => (usage ? `/${name} ${usage}` : `/${name}`)

/** What may be typed besides commands: for the help, and for the page about the chat. */
export const KEYS: readonly Row[] = [
  ['Enter', 'sends; during a turn the message waits for its end'],
  ['Alt-Enter', 'a new line; so do Ctrl-J, and \\ before Enter'],
  ['Up, Down', 'earlier messages'],
  ['Ctrl-R', 'looks for an earlier message'],
  ['Tab', 'completes a command or a path'],
  ['Esc', 'closes the list of completions; twice, clears the input'],
  ['Ctrl-C', 'stops what runs; with nothing running, clears the input, then leaves'],
  ['Ctrl-D', 'leaves when nothing is typed'],
  ['!COMMAND', 'runs it in your own shell, outside the sandbox; the model sees what it printed with your next message'],
  ['@PATH', 'names a file; nothing is read until the model reads it'],
  ['//TEXT', 'a message that begins with one slash'],
]

/** By its name, an alias or a beginning that only it has. @throws UsageError */
export function findCommand(name: string): SlashCommand {
  const names = COMMANDS.flatMap((one) => [one.name, ...(one.aliases ?? [])])
  const of = (called: string): SlashCommand | undefined => COMMANDS.find((one) => one.name === called || one.aliases?.includes(called))
  const found = of(name)
  if (found) return found
  const begun = name === '' ? [] : [...new Set(names.filter((one) => one.startsWith(name)).map(of))]
  if (begun.length === 1) return begun[0] as SlashCommand
  const near =
    begun.length > 1 ? begun.map((one) => `/${one?.name}`).join(' or ') : nearest(name, names, 1).map((one) => `/${of(one)?.name}`)[0]
  throw new UsageError(
    `there is no command /${oneLine(name, 40)}${near ? `; did you mean ${near}?` : ''}`,
    `/help shows them all. To send it as a message: //${oneLine(name, 40)}`,
  )
}
