/** The flags of `mulligan sessions`. */
import { InvalidArgumentError, Option } from 'commander'
import type { RunFlags } from '../commands/run.ts'
import type { DeleteFlags } from '../commands/sessions/delete.ts'
import type { ListFlags } from '../commands/sessions/list.ts'
import type { SessionFlags } from '../commands/sessions/open.ts'
import type { RepairFlags } from '../commands/sessions/repair.ts'
import type { ExportFlags } from '../commands/sessions/show.ts'
import { inFolder, isAtTerminal, positiveInteger, type Register } from './register.ts'
import { withJsonFlags, withTurnFlags } from './turn-flags.ts'

const WHICH = 'which; the beginning of its id will do'
const LAST = ['--last', 'the latest of this folder'] as const

export const addSessions: Register = (program, { act, output }) => {
  const sessions = program.command('sessions').description('the sessions of the folder; show, resume, delete, export or repair')
  inFolder(sessions.command('list', { isDefault: true }).description('the sessions of the folder, the latest first'))
    .option('--all', 'those of every folder')
    .option('--limit <n>', 'at most so many; default: 50', positiveInteger)
    .action((flags: ListFlags) => act(async () => (await import('../commands/sessions/list.ts')).listSessions(flags, output)))
  inFolder(sessions.command('show').description('the conversation, to be read').argument('[id]', WHICH))
    .option(...LAST)
    .action((id: string | undefined, flags: SessionFlags) =>
      act(async () => (await import('../commands/sessions/show.ts')).showSession(id, flags, output)),
    )
  withJsonFlags(
    withTurnFlags(
      sessions
        .command('resume')
        .option('--take-over', 'also when another process runs a turn of it: that one stops before its next effect')
        .description('go on with a session: in a chat, or with the prompt; without both, with a turn that was cut off')
        .argument('[id]', `${WHICH}. Default: the latest of this folder`)
        .argument('[prompt]', 'what to do; - reads it from stdin'),
    ),
  ).action((id: string | undefined, prompt: string | undefined, flags: RunFlags) =>
    act(async () => {
      const which = { ...flags, ...(id === undefined ? { last: true } : { session: id }) }
      const talks = prompt === undefined && !flags.json && !flags.jsonStream && isAtTerminal()
      return talks
        ? (await import('../chat/command.ts')).chatCommand(which, output)
        : (await import('../commands/run.ts')).runCommand(prompt, which, output)
    }),
  )
  inFolder(sessions.command('delete').description('delete sessions, for good').argument('[id...]', WHICH))
    .option('--older-than <age>', 'those without a turn for so long: 30d, 12h, 2w', age)
    .option('--all', 'with --older-than: those of every folder')
    .option('-y, --yes', 'do not ask')
    .action((ids: string[], flags: DeleteFlags) =>
      act(async () => (await import('../commands/sessions/delete.ts')).deleteSessions(ids, flags, output)),
    )
  sessions
    .command('repair')
    .description('save what can be read of a damaged store of sessions')
    .option('--json', 'JSON on stdout')
    .action((flags: RepairFlags) => act(async () => (await import('../commands/sessions/repair.ts')).repairSessions(flags, output)))
  sessions
    .command('export')
    .description('write a session to a file, or to stdout')
    .argument('[id]', WHICH)
    .option(...LAST)
    .addOption(new Option('--format <which>', 'Markdown, one object, or one event a line; default: md').choices(['md', 'json', 'jsonl']))
    .option('-o, --output <file>', 'the file; default: stdout')
    .option('--cwd <dir>', 'the folder')
    .action((id: string | undefined, flags: ExportFlags) =>
      act(async () => (await import('../commands/sessions/show.ts')).exportSession(id, flags, output)),
    )
}

const MILLISECONDS: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000, w: 604_800_000 }

function age(text: string): number {
  const [, number = '', unit = ''] = /^(\d{1,5})([hdw])$/.exec(text) ?? []
  if (number === '') throw new InvalidArgumentError('It is a number of hours, days or weeks: 12h, 30d, 2w.')
  return Number(number) * (MILLISECONDS[unit] as number)
}
