/** Slash commands of the user and the project: Markdown files whose text is sent as a message. */
import { join } from 'node:path'
import type { Env } from '../common/env.ts'
import { fromHome } from '../common/paths.ts'
import { oneLine } from '../common/sanitize.ts'
import { ownPath } from '../config/places.ts'
import { type FileProblem, markdownFiles } from './markdown-files.ts'

export interface PromptCommand {
  /** Its name without the slash: that of the file. */
  readonly name: string
  readonly description: string
  /** What it takes, for the help: `[ISSUE]`. */
  readonly usage?: string
  /** The message, with places for the arguments. */
  readonly text: string
  /** The file, for display. */
  readonly from: string
}

const NAME = /^[a-z0-9][a-z0-9_-]{0,39}$/

/**
 * Reads the commands in `commands` of the user's configuration folder and in `.mulligan/commands` of the project. The user's come first:
 * a project's command cannot take the name of one.
 */
export async function promptCommands(
  cwd: string,
  env: Env,
): Promise<{ readonly commands: readonly PromptCommand[]; readonly problems: readonly FileProblem[] }> {
  const personal = ownPath('commands', env)
  const read = [
    ...(personal === undefined ? [] : await commandsIn(personal, fromHome(personal, env))),
    ...(await commandsIn(join(cwd, '.mulligan', 'commands'), join('.mulligan', 'commands'), cwd)),
  ]
  const kept = new Map<string, PromptCommand>()
  const problems: FileProblem[] = []
  for (const one of read) {
    if ('error' in one) problems.push(one)
    else if (kept.has(one.name)) problems.push({ file: one.from, error: `/${one.name} is already defined in ${kept.get(one.name)?.from}` })
    else kept.set(one.name, one)
  }
  return { commands: [...kept.values()], problems }
}

const commandsIn = (folder: string, shown: string, root?: string): Promise<readonly (PromptCommand | FileProblem)[]> =>
  markdownFiles(folder, shown, root, ({ name, file, fields, body }) => {
    if (!NAME.test(name)) throw new Error('its name must consist of a-z, 0-9, - and _')
    if (body === '') throw new Error('it has no text')
    const field = (key: string): string => (typeof fields[key] === 'string' ? oneLine(fields[key] as string, 200) : '')
    const usage = field('argument-hint')
    return { name, description: field('description') || oneLine(body, 60), ...(usage !== '' && { usage }), text: body, from: file }
  })

/** An argument in quotes, or without blanks. */
const ARGUMENT = /"([^"]*)"|'([^']*)'|(\S+)/g
const PLACE = /\$(ARGUMENTS|[1-9])/g

/**
 * Returns the message of a command. `$ARGUMENTS` stands for all arguments, `$1` to `$9` for one of them; a missing one is empty. A text
 * without such places gets the arguments at its end.
 */
export function promptFor({ text }: Pick<PromptCommand, 'text'>, args: string): string {
  const each = [...args.matchAll(ARGUMENT)].map(([, double, single, bare]) => double ?? single ?? bare ?? '')
  let hasPlace = false
  const filled = text.replace(PLACE, (_, place: string) => {
    hasPlace = true
    return place === 'ARGUMENTS' ? args : (each[Number(place) - 1] ?? '')
  })
  return hasPlace || args === '' ? filled : `${filled}\n\n${args}`
}
