/** The slash commands, in the order of the help. To add one, add a line here. */
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
  description: 'show the commands and keys',
  anytime: true,
  run: (_, { sayRows }) => sayRows([...COMMANDS.map((one): Row => [usageOf(one), one.description]), ['', ''], ...KEYS]),
}

const quit: SlashCommand = {
  name: 'quit',
  aliases: ['exit', 'q'],
  description: 'quit; you can resume the session later',
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
  ['Ctrl-R', 'searches earlier messages'],
  ['Tab', 'completes a command or a path'],
  ['Esc', 'closes the list of completions; twice, clears the input'],
  ['Ctrl-C', 'stops the current turn; when idle, clears the input, then quits'],
  ['Ctrl-D', 'quits if the input is empty'],
  ['!COMMAND', 'runs a command in your own shell, outside the sandbox; its output goes to the model with your next message'],
  ['@PATH', 'mentions a file; the model reads it if needed'],
  ['//TEXT', 'sends a message that starts with a slash'],
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
    `unknown command /${oneLine(name, 40)}${near ? `; did you mean ${near}?` : ''}`,
    `/help lists the commands. To send it as a message: //${oneLine(name, 40)}`,
  )
}
