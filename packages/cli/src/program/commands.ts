/** The handler of each command. Its code is loaded when it runs. */
import { Argument, type Command, Option } from 'commander'
import type { Output } from '../ui/output.ts'
import { DEFINITIONS, HIDDEN } from './definitions.ts'

/** Receives the arguments, then the flags. */
type Handler = (...given: Parameters<Parameters<Command['action']>[0]>) => Promise<number>

/** Whether a user is at the terminal, so that a chat can be opened. */
export const isAtTerminal = (): boolean => process.stdin.isTTY === true && process.stdout.isTTY === true

const handlersOf = (program: Command, output: Output): Readonly<Record<string, Handler>> => ({
  run: async (prompt, flags) => (await import('../commands/run.ts')).runCommand(prompt, flags, output),
  chat: async (flags) => (await import('../chat/command.ts')).chatCommand(flags, output),
  init: async (flags) => (await import('../commands/init/init.ts')).initCommand(flags, output),
  models: async (flags) => (await import('../commands/models.ts')).modelsCommand(flags, output),
  'tools list': async (flags) => (await import('../commands/tools/show.ts')).listTools(flags, output),
  'tools show': async (name, flags) => (await import('../commands/tools/show.ts')).showTool(name, flags, output),
  'tools call': async (name, json, flags) => (await import('../commands/tools/call.ts')).callTool(name, json, flags, output),
  'tools audit': async (flags) => (await import('../commands/tools/audit.ts')).auditTools(flags, output),
  parse: async (file, flags) => (await import('../commands/parse/parse.ts')).parseCommand(file, flags, output),
  agents: async (flags) => (await import('../commands/agents.ts')).agentsCommand(flags, output),
  'config show': async (flags) => (await import('../commands/config/show.ts')).showConfig(flags, output),
  'config get': async (key, flags) => (await import('../commands/config/show.ts')).getConfig(key, flags, output),
  'config set': async (key, value, flags) => (await import('../commands/config/edit.ts')).setConfig(key, value, flags, output),
  'config unset': async (key, flags) => (await import('../commands/config/edit.ts')).unsetConfig(key, flags, output),
  'config init': async (flags) => (await import('../commands/config/edit.ts')).initConfig(flags, output),
  'config explain': async (key, flags) => (await import('../commands/config/show.ts')).explainConfig(key, flags, output),
  'config path': async (flags) => (await import('../commands/config/show.ts')).configPath(flags, output),
  trust: async (flags) => (await import('../commands/trust.ts')).trustCommand(flags, output),
  undo: async (turn, flags) => (await import('../commands/undo.ts')).undoCommand('undo', turn, flags, output),
  redo: async (turn, flags) => (await import('../commands/undo.ts')).undoCommand('redo', turn, flags, output),
  diff: async (turn, flags) => (await import('../commands/undo.ts')).diffCommand(turn, flags, output),
  'sessions list': async (flags) => (await import('../commands/sessions/sessions.ts')).listSessions(flags, output),
  'sessions show': async (id, flags) => (await import('../commands/sessions/sessions.ts')).showSession(id, flags, output),
  'sessions resume': async (id, prompt, flags) => {
    const which = { ...flags, ...(id === undefined ? { last: true } : { session: id }) }
    const talks = prompt === undefined && !flags.json && !flags.jsonStream && isAtTerminal()
    return talks
      ? (await import('../chat/command.ts')).chatCommand(which, output)
      : (await import('../commands/run.ts')).runCommand(prompt, which, output)
  },
  'sessions branch': async (id, flags) => (await import('../commands/sessions/sessions.ts')).branchCommand(id, flags, output),
  'sessions rename': async (id, title, flags) =>
    (await import('../commands/sessions/sessions.ts')).renameSession(id, title.join(' '), flags, output),
  'sessions delete': async (ids, flags) => (await import('../commands/sessions/sessions.ts')).deleteSessions(ids, flags, output),
  'sessions repair': async (flags) => (await import('../commands/sessions/sessions.ts')).repairSessions(flags, output),
  'sessions export': async (id, flags) => (await import('../commands/sessions/sessions.ts')).exportSession(id, flags, output),
  logs: async (session, flags) => (await import('../commands/sessions/logs.ts')).logsCommand(session, flags, output),
  report: async (flags) => (await import('../commands/report/report.ts')).reportCommand(flags, output),
  'mcp list': async (flags) => (await import('../commands/mcp/servers.ts')).listServers(flags, output),
  'mcp add': async (name, command, flags) => (await import('../commands/mcp/servers.ts')).addServer(name, command, flags, output),
  'mcp remove': async (name, flags) => (await import('../commands/mcp/servers.ts')).removeServer(name, flags, output),
  'mcp login': async (name, flags) => (await import('../commands/mcp/login.ts')).loginCommand(name, flags, output),
  'mcp logout': async (name, flags) => (await import('../commands/mcp/login.ts')).logoutCommand(name, flags, output),
  'mcp test': async (name, flags) => (await import('../commands/mcp/servers.ts')).testServers(name, flags, output),
  'mcp serve': async (flags) => (await import('../commands/mcp/serve.ts')).serveCommand(flags, output),
  'mcp proxy': async (command, flags) => (await import('../commands/mcp/proxy.ts')).proxyCommand(command, flags, output),
  'mcp resolve': async (id, flags) => (await import('../commands/mcp/resolve.ts')).resolveCommand(id, flags, output),
  'auth google': async (flags) => (await import('../commands/auth/google.ts')).googleCommand(flags, output),
  'auth mail': async (flags) => (await import('../commands/auth/mail.ts')).mailCommand(flags, output),
  'auth status': async (flags) => (await import('../commands/auth/status.ts')).statusCommand(flags, output),
  'auth logout': async (service, flags) =>
    service === 'mail'
      ? (await import('../commands/auth/mail.ts')).mailLogout(flags, output)
      : (await import('../commands/auth/google.ts')).logoutCommand(flags, output),
  acp: async (flags) => (await import('../commands/acp.ts')).acpCommand(flags, output),
  'sandbox run': async (command, flags) => (await import('../commands/sandbox/run.ts')).sandboxRun(command, flags, output),
  'sandbox pull': async (image, flags) => (await import('../commands/sandbox/run.ts')).sandboxPull(image, flags, output),
  serve: async (flags) => (await import('../commands/serve.ts')).serveHttp(flags, output),
  'approvals list': async (flags) => (await import('../commands/approvals.ts')).listApprovals(flags, output),
  'approvals show': async (id, flags) => (await import('../commands/approvals.ts')).showApproval(id, flags, output),
  'approvals allow': async (id, flags) => (await import('../commands/approvals.ts')).answerApproval('allow', id, flags, output),
  'approvals deny': async (id, flags) => (await import('../commands/approvals.ts')).answerApproval('deny', id, flags, output),
  doctor: async (flags) => (await import('../commands/doctor/doctor.ts')).doctor(flags, output),
  eval: async (flags) => (await import('../commands/eval/eval.ts')).evalCommand(flags, output),
  demo: async (flags) => (await import('../demo/demo.ts')).demo(flags, output),
  completion: async (shell) => (await import('../commands/completion/run.ts')).completionCommand(shell, output),
  [HIDDEN]: async (shell, words, { empty = false }) =>
    (await import('../commands/completion/run.ts')).completeCommand(program, shell, empty ? [...words, ''] : words, output),
})

/** The commands that run if only their group is named. */
const DEFAULTS = new Set(['config show', 'sessions list', 'mcp list', 'approvals list', 'auth status'])

/** The names of the commands, without subcommands. */
export const COMMANDS: readonly string[] = DEFINITIONS.flatMap(([name]) => (name.includes(' ') ? [] : [name]))

export const optionsOf = (command: string): readonly Option[] =>
  DEFINITIONS.flatMap(([name, , ...parts]) => (name === command ? parts.filter((part) => part instanceof Option) : []))

/**
 * @param only the command to add, with its subcommands. Default: all
 * @param act runs a command and stores its exit code
 */
export function addCommands(
  program: Command,
  only: string | undefined,
  output: Output,
  act: (run: () => Promise<number>) => Promise<void>,
): void {
  const handlers = handlersOf(program, output)
  for (const [name, says, ...parts] of DEFINITIONS) {
    const path = name.split(' ')
    if (only !== undefined && path[0] !== only) continue
    const group = program.commands.find((one) => path.length > 1 && one.name() === path[0]) ?? program
    const command = group.command(path.at(-1) as string, { isDefault: DEFAULTS.has(name), hidden: name === HIDDEN }).description(says)
    for (const part of parts) {
      if (part instanceof Argument) command.addArgument(part)
      else command.addOption(part)
    }
    if (name === 'sandbox run' || name === 'mcp proxy') command.usage('[options] -- COMMAND…')
    if (name === 'mcp add') command.usage('[options] NAME -- COMMAND…')
    const run = handlers[name]
    if (run) command.action((...given) => act(() => run(...given)))
  }
}
