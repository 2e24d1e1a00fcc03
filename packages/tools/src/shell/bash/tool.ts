import { defineTool, type Tool } from '@mulligan/core'
import type { Issue, LayerUse } from '@mulligan/core/executor'
import { z } from 'zod'
import { describe } from '../../describe.ts'
import { NEW_REPOSITORY } from '../../git/common/parameters.ts'
import { commandKeys, commandTargets } from '../command-policy/command-policy.ts'
import { quoted } from '../common/simple-commands.ts'
import type { ShellLayers } from '../layer/layers.ts'
import { wrongBefore } from './before.ts'
import { run } from './run.ts'
import { DEFAULT_TIMEOUT, MAX_TIMEOUT, type ShellCall, type ShellSession } from './session.ts'

/** Seconds added to the longest command timeout, for opening the sandbox and ending a command. */
const MARGIN = 60
const MAX_COMMAND = 1_000_000

const parameters = (timeout: number) =>
  z.object({
    command: z
      .string()
      .max(MAX_COMMAND)
      .refine((command) => command.trim() !== '', 'a command that is not empty')
      .refine((command) => !command.includes('\0'), 'a command without NUL characters')
      .describe('bash script'),
    cwd: z.string().default('.').describe('folder'),
    timeout: z.number().min(1).max(MAX_TIMEOUT).default(timeout).describe('seconds'),
    background: z.boolean().default(false).describe('return at once; no timeout'),
    allow_non_zero_exit: z.boolean().default(false).describe('any exit code is ok'),
  })

const writes = () => z.literal('direct').optional().describe('"direct": on the real files, as for a server; asks first')

const inputOf = (timeout: number, layers: boolean) => (layers ? parameters(timeout).extend({ writes: writes() }) : parameters(timeout))
/** The usual one is created once. */
const input = inputOf(DEFAULT_TIMEOUT, true)

const ON_LAYERS = ' Files it changes wait for approval; changes in git-ignored ones stay with the session; secret files are empty.'
const ALIASES = [
  ...['bash', 'run_shell_command', 'shell', 'execute', 'shell_command', 'local_shell', 'exec_command', 'run_command', 'run_terminal_cmd'],
  ...['execute_command', 'terminal', 'run_in_terminal', 'container.exec'],
]
/** Other agents' parameters for approval or for a persistent terminal. */
const LEFT_OUT = [
  ...['with_escalated_permissions', 'sandbox_permissions', 'dangerouslyDisableSandbox', 'prefix_rule'],
  ...['yield_time_ms', 'max_output_tokens', 'WaitMsBeforeAsync', 'login', 'tty', 'shell', 'restart', 'is_input', 'RunPersistent'],
]
const FILES = { ...NEW_REPOSITORY, '.git/hooks/.keep': '' }

/**
 * Creates the tool that runs a script in the sandbox and reports the result.
 *
 * @param network what commands can reach
 * @param timeout seconds, if a call does not set it
 */
export function bashTool(session: ShellSession, { network, timeout }: { network: 'none' | 'bridge'; timeout: number }): Tool {
  const { commandPolicy, layers } = session
  const writing = network === 'none' ? 'write' : 'external'
  const tool = defineTool({
    name: 'bash',
    description: describe(import.meta.url, {
      NETWORK: network === 'none' ? 'no network' : 'with network',
      LAYERS: layers ? ON_LAYERS : '',
    }),
    input: layers && timeout === DEFAULT_TIMEOUT ? input : inputOf(timeout, layers !== undefined),
    effect: writing,
    priority: 40,
    subject: ({ command }) => command,
    timeout: MAX_TIMEOUT + MARGIN,
    aliases: ALIASES.map((name) => ({ name, adapt: fromOtherShapes })),
    parameterAliases: {
      command: ['cmd', 'script', 'command_line', 'input'],
      cwd: ['workdir', 'working_directory', 'directory', 'dir', 'dir_path', 'path'],
      background: ['run_in_background', 'is_background', 'detach'],
      timeout: ['timeout_seconds', 'timeout_secs', 'timeout_sec'],
    },
    ignoredParameters: LEFT_OUT,
    effectOf: ({ command, cwd, background }) => (commandPolicy(command, cwd).verdict === 'safe' && !background ? 'read' : writing),
    target: ({ command, cwd }) => commandTargets(commandPolicy(command, cwd), command),
    // The same command can be written in countless ways, so two command texts cannot be proven to differ.
    indeterminateScope: 'tool',
    denialKeys: ({ command, cwd }, target) => commandKeys(commandPolicy(command, cwd), target),
    examples: [
      { outcome: 'ok', input: { command: 'wc -l < a.txt > lines.txt && cat lines.txt' }, files: { ...FILES, 'a.txt': 'one\ntwo\n' } },
      {
        outcome: 'empty',
        input: { command: 'grep -n three a.txt' },
        files: { ...FILES, 'a.txt': 'one\ntwo\n' },
        why: 'exit code 1 is an answer',
      },
      { outcome: 'retry', input: { command: 'cta a.txt' }, files: { ...FILES, 'a.txt': 'one\n' }, why: 'the nearest command is named' },
      { outcome: 'retry', input: { command: 'cat b.txt' }, files: { ...FILES, 'src/b.txt': 'one\n' }, why: 'the nearest path is named' },
      { outcome: 'failed', input: { command: 'echo 1 test failed; exit 1' } },
    ],
    ...(layers && { layer: layerUse(session, layers) }),
    execute: (call, ctx) => run(session, call, ctx),
  })
  return checkedFirst<ShellCall>(tool, (call) => wrongBefore(session, call))
}

/** Confines a command unless it asks for `direct` or outlives its call. */
const layerUse = ({ sandbox }: ShellSession, { areThere, keep, discard, park }: ShellLayers): LayerUse<ShellCall> => ({
  confinement: async ({ background, writes }) => {
    if (background || writes === 'direct') return 'direct'
    if (await areThere()) return 'layer'
    return (await sandbox.get()).backend === 'none' ? 'direct' : 'read-only'
  },
  keep,
  discard,
  park,
})

type Found = Issue | undefined

/** Adds a second input check, made before anyone is asked to approve the call. */
function checkedFirst<Input>(tool: Tool, wrong: (input: Input) => Found | Promise<Found>): Tool {
  const check: Tool['check']['check'] = async (value) => {
    const first = await tool.check.check(value)
    if (!first.ok) return first
    const issue = await wrong(first.value as Input)
    return issue ? { ok: false, issues: [issue] } : first
  }
  return { ...tool, check: { ...tool.check, check } }
}

const SHELL = /(?:^|\/)(?:ba|z|da|k)?sh$/
/** A `timeout` this large is taken as milliseconds; no timeout in seconds may be this long. */
const MILLISECONDS = 1000

/** Adapts the shell calls of other agents. Word lists are quoted for the shell; of `["bash", "-lc", "…"]`, the script is used. Pure. */
export function fromOtherShapes(input: Record<string, unknown>): Record<string, unknown> {
  const { command, cmd, args, timeout_ms, timeoutMs, timeout, blocking, Blocking, ...rest } = input
  const line = command ?? cmd
  const script = Array.isArray(args) && typeof line === 'string' ? [line, ...args] : line
  const milliseconds = timeout_ms ?? timeoutMs ?? (Number(timeout) >= MILLISECONDS ? timeout : undefined)
  const blocks = blocking ?? Blocking
  return {
    ...rest,
    ...(script !== undefined && { command: scriptOf(script) }),
    ...(milliseconds !== undefined ? { timeout: seconds(milliseconds) } : timeout !== undefined && { timeout }),
    ...(typeof blocks === 'boolean' && { background: !blocks }),
  }
}

function scriptOf(command: unknown): unknown {
  if (!Array.isArray(command) || !command.every((word) => typeof word === 'string')) return command
  const [program = '', option = '', script, ...more] = command
  if (SHELL.test(program) && /^-\w*c$/.test(option) && script !== undefined && more.length === 0) return script
  // A list with one element contains the whole script.
  return command.length === 1 ? program : command.map(quoted).join(' ')
}

const seconds = (milliseconds: unknown): unknown =>
  Number.isFinite(Number(milliseconds)) && milliseconds !== null
    ? Math.min(MAX_TIMEOUT, Math.max(1, Math.ceil(Number(milliseconds) / 1000)))
    : milliseconds
