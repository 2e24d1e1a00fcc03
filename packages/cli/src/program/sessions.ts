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

const WHICH = 'the session id, or the beginning of it'
const LAST = ['--last', 'the latest session in this folder'] as const

export const addSessions: Register = (program, { act, output }) => {
  const sessions = program.command('sessions').description('list, show, resume, delete, export or repair sessions')
  inFolder(sessions.command('list', { isDefault: true }).description('list the sessions in this folder, latest first'))
    .option('--all', 'include the sessions of all folders')
    .option('--limit <n>', 'maximum number of sessions (default: 50)', positiveInteger)
    .action((flags: ListFlags) => act(async () => (await import('../commands/sessions/list.ts')).listSessions(flags, output)))
  inFolder(sessions.command('show').description('show the conversation').argument('[id]', WHICH))
    .option(...LAST)
    .action((id: string | undefined, flags: SessionFlags) =>
      act(async () => (await import('../commands/sessions/show.ts')).showSession(id, flags, output)),
    )
  withJsonFlags(
    withTurnFlags(
      sessions
        .command('resume')
        .option('--take-over', 'take the session over from another process, which stops before its next effect')
        .description('continue a session in a chat or with a prompt, or resume an interrupted turn')
        .argument('[id]', `${WHICH} (default: the latest in this folder)`)
        .argument('[prompt]', 'the task; - reads it from stdin'),
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
  inFolder(sessions.command('delete').description('delete sessions permanently').argument('[id...]', WHICH))
    .option('--older-than <age>', 'delete sessions without a turn for this long: 30d, 12h, 2w', age)
    .option('--all', 'with --older-than: include all folders')
    .option('-y, --yes', 'do not ask for confirmation')
    .action((ids: string[], flags: DeleteFlags) =>
      act(async () => (await import('../commands/sessions/delete.ts')).deleteSessions(ids, flags, output)),
    )
  sessions
    .command('repair')
    .description('recover what is readable from a damaged session store')
    .option('--json', 'print JSON to stdout')
    .action((flags: RepairFlags) => act(async () => (await import('../commands/sessions/repair.ts')).repairSessions(flags, output)))
  sessions
    .command('export')
    .description('write a session to a file, or to stdout')
    .argument('[id]', WHICH)
    .option(...LAST)
    .addOption(
      new Option('--format <which>', 'Markdown, one JSON object, or one JSON event per line (default: md)').choices([
        'md',
        'json',
        'jsonl',
      ]),
    )
    .option('-o, --output <file>', 'the output file (default: stdout)')
    .option('--cwd <dir>', 'the folder to work in')
    .action((id: string | undefined, flags: ExportFlags) =>
      act(async () => (await import('../commands/sessions/show.ts')).exportSession(id, flags, output)),
    )
}

const MILLISECONDS: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000, w: 604_800_000 }

function age(text: string): number {
  const [, number = '', unit = ''] = /^(\d{1,5})([hdw])$/.exec(text) ?? []
  if (number === '') throw new InvalidArgumentError('It must be a number of hours, days or weeks: 12h, 30d, 2w.')
  return Number(number) * (MILLISECONDS[unit] as number)
}
