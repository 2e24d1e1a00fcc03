/**
 * Slash commands of the user and the project: Markdown files whose text is sent as a message. Those of Claude Code are read too, whose
 * format is the same.
 */
import { join } from 'node:path'
import type { Env } from '../common/env.ts'
import { fromHome, homeFolder } from '../common/paths.ts'
import { oneLine } from '../common/sanitize.ts'
import { ownPath } from '../config/places.ts'
import { type FileProblem, markdownFiles } from './markdown-files.ts'

export interface PromptCommand {
  /** Its name without the slash: that of the file, in lower case, behind those of its folders: `web:fix`. */
  readonly name: string
  readonly description: string
  /** What it takes, for the help: `[ISSUE]`. */
  readonly usage?: string
  /** The message, with places for the arguments. */
  readonly text: string
  /** The file, for display. */
  readonly from: string
  /** Whether the model could have written the file, so that its words are nobody's. */
  readonly untrusted?: true
}

const NAME = /^[a-z0-9][a-z0-9_-]{0,39}$/
/** How many folders deep a command may be. */
const DEPTH = 3

interface Place {
  readonly folder: string
  /** The folder, for display. */
  readonly shown: string
  /** The project, which the files must be in. */
  readonly root?: string
  readonly untrusted?: true
}

/** Returns the folders of commands. What an earlier one has can't be replaced by a later one: the user's come before the project's. */
function placesOf(cwd: string, env: Env): readonly Place[] {
  const own = [ownPath('commands', env), homePath(env)]
  const inProject = (name: string) => ({ folder: join(cwd, name, 'commands'), shown: join(name, 'commands'), root: cwd })
  return [
    ...own.flatMap((folder) => (folder === undefined ? [] : [{ folder, shown: fromHome(folder, env) }])),
    inProject('.mulligan'),
    { ...inProject('.claude'), untrusted: true },
  ]
}

function homePath(env: Env): string | undefined {
  try {
    return join(homeFolder(env), '.claude', 'commands')
  } catch {
    return undefined
  }
}

/**
 * Reads the commands in `commands` of the user's configuration folder and `.claude/commands` of the home folder, then in
 * `.mulligan/commands` and `.claude/commands` of the project.
 */
export async function promptCommands(
  cwd: string,
  env: Env,
): Promise<{ readonly commands: readonly PromptCommand[]; readonly problems: readonly FileProblem[] }> {
  const read = (await Promise.all(placesOf(cwd, env).map(commandsIn))).flat()
  const kept = new Map<string, PromptCommand>()
  const problems: FileProblem[] = []
  for (const one of read) {
    if ('error' in one) problems.push(one)
    else if (kept.has(one.name)) problems.push({ file: one.from, error: `/${one.name} is already defined in ${kept.get(one.name)?.from}` })
    else kept.set(one.name, one)
  }
  return { commands: [...kept.values()], problems }
}

const commandsIn = ({ folder, shown, root, untrusted }: Place): Promise<readonly (PromptCommand | FileProblem)[]> =>
  markdownFiles<PromptCommand>(
    folder,
    shown,
    root,
    ({ name: path, file, fields, body }) => {
      const names = path.toLowerCase().split('/')
      if (!names.every((name) => NAME.test(name))) throw new Error('its name must consist of letters, digits, - and _')
      if (body === '') throw new Error('it has no text')
      const usage = fieldOf(fields['argument-hint'])
      return {
        ...{ name: names.join(':'), description: fieldOf(fields['description']) || oneLine(body, 60), text: body, from: file },
        ...(usage !== '' && { usage }),
        ...(untrusted && { untrusted }),
      }
    },
    { depth: DEPTH, isLenient: true },
  )

/** `[ISSUE]` without quotes is a list in YAML. */
const fieldOf = (field: unknown): string =>
  typeof field === 'string' ? oneLine(field, 200) : Array.isArray(field) ? oneLine(`[${field.join(', ')}]`, 200) : ''

/** Whether a command has something to say with it. */
export const takesArguments = ({ text, usage }: PromptCommand): boolean => usage !== undefined || text.search(PLACE) !== -1

/** Finds a command by its name; also by what is behind the folders in it, if that is of one command only. */
export function promptCommandNamed(commands: readonly PromptCommand[], name: string): PromptCommand | undefined {
  const behind = commands.filter((one) => one.name.endsWith(`:${name}`))
  return commands.find((one) => one.name === name) ?? (behind.length === 1 ? behind[0] : undefined)
}

/** An argument in quotes, or without blanks. */
const ARGUMENT = /"([^"]*)"|'([^']*)'|(\S+)/g
const PLACE = /\$(ARGUMENTS|[1-9])/g
/** A place for the output of a command, which other agents run unasked. */
const OUTPUT = /(?:^|\s)!`[^`\n]+`/
const NOT_RUN = '(The commands in !`…` have not been run. Run them if you need their output.)'

/**
 * Returns the message of a command. `$ARGUMENTS` stands for all arguments, `$1` to `$9` for one of them; a missing one is empty. A text
 * without such places gets the arguments at its end. Commands in it are not run; the model is told.
 */
export function promptFor({ text }: Pick<PromptCommand, 'text'>, args: string): string {
  const each = [...args.matchAll(ARGUMENT)].map(([, double, single, bare]) => double ?? single ?? bare ?? '')
  let hasPlace = false
  const filled = text.replace(PLACE, (_, place: string) => {
    hasPlace = true
    return place === 'ARGUMENTS' ? args : (each[Number(place) - 1] ?? '')
  })
  return [filled, hasPlace ? '' : args, OUTPUT.test(text) ? NOT_RUN : ''].filter((part) => part !== '').join('\n\n')
}
