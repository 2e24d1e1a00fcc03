import { defineTool, type LayerUse, type Tool } from '@mulligan/core'
import { z } from 'zod'
import { describe } from '../../describe.ts'
import { NEW_REPOSITORY } from '../../git/common/parameters.ts'
import { commandKeys, commandTargets } from '../command-policy/command-policy.ts'
import { checkedFirst } from '../common/checked-first.ts'
import { MAX_TIMEOUT, type ShellCall, type ShellSession } from '../common/session.ts'
import type { ShellLayers } from '../layer/layers.ts'
import { wrongBefore } from './before.ts'
import { fromOtherShapes, LEFT_OUT } from './other-shapes.ts'
import { run } from './run.ts'

/** Seconds above the longest command: to open the sandbox, and to end one. */
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

const layered = (timeout: number) =>
  parameters(timeout).extend({
    writes: z.literal('direct').optional().describe('"direct": on the real files, as for a server; asks first'),
  })

export interface BashOptions {
  /** What commands can reach. */
  readonly network: 'none' | 'bridge'
  /** Seconds, where a call does not say. */
  readonly timeout: number
}

const ON_LAYERS = ' Files it changes wait for approval; changes in git-ignored ones stay with the session; secret files are empty.'

const REPOSITORY = { ...NEW_REPOSITORY, '.git/hooks/.keep': '' }

/** Runs a script in the sandbox and says what became of it. */
export function bashTool(session: ShellSession, { network, timeout }: BashOptions): Tool {
  const tool = defineTool({
    name: 'bash',
    description: describe(import.meta.url, {
      NETWORK: network === 'none' ? 'no network' : 'with network',
      LAYERS: session.layers ? ON_LAYERS : '',
    }),
    input: session.layers ? layered(timeout) : parameters(timeout),
    effect: network === 'none' ? 'write' : 'external',
    timeout: MAX_TIMEOUT + MARGIN,
    aliases: [
      ...[
        'bash',
        'run_shell_command',
        'shell',
        'execute',
        'shell_command',
        'local_shell',
        'exec_command',
        'run_command',
        'run_terminal_cmd',
      ],
      ...['execute_command', 'terminal', 'run_in_terminal', 'container.exec'],
    ].map((name) => ({ name, adapt: fromOtherShapes })),
    parameterAliases: {
      command: ['cmd', 'script', 'command_line', 'input'],
      cwd: ['workdir', 'working_directory', 'directory', 'dir', 'dir_path', 'path'],
      background: ['run_in_background', 'is_background', 'detach'],
      timeout: ['timeout_seconds', 'timeout_secs', 'timeout_sec'],
    },
    ignoredParameters: LEFT_OUT,
    effectOf: ({ command, cwd, background }) =>
      session.commandPolicy(command, cwd).verdict === 'safe' && !background ? 'read' : network === 'none' ? 'write' : 'external',
    target: ({ command, cwd }) => commandTargets(session.commandPolicy(command, cwd), command),
    // The same command can be written in any number of ways, so no reading of two of them tells that they differ.
    indeterminateScope: 'tool',
    denialKeys: ({ command, cwd }, target) => commandKeys(session.commandPolicy(command, cwd), target),
    examples: [
      {
        outcome: 'ok',
        input: { command: 'wc -l < a.txt > lines.txt && cat lines.txt' },
        files: { ...REPOSITORY, 'a.txt': 'one\ntwo\n' },
      },
      {
        outcome: 'empty',
        input: { command: 'grep -n three a.txt' },
        files: { ...REPOSITORY, 'a.txt': 'one\ntwo\n' },
        why: 'exit code 1 is an answer',
      },
      {
        outcome: 'retry',
        input: { command: 'cta a.txt' },
        files: { ...REPOSITORY, 'a.txt': 'one\n' },
        why: 'the nearest command is named',
      },
      {
        outcome: 'retry',
        input: { command: 'cat b.txt' },
        files: { ...REPOSITORY, 'src/b.txt': 'one\n' },
        why: 'the nearest path is named',
      },
      { outcome: 'failed', input: { command: 'echo 1 test failed; exit 1' } },
    ],
    ...(session.layers && { layer: layerUse(session, session.layers) }),
    execute: (call, ctx) => run(session, call, ctx),
  })
  return checkedFirst<ShellCall>(tool, (call) => wrongBefore(session, call))
}

/** A command is confined unless it says that it must not be, or outlives its call. */
function layerUse({ sandbox }: ShellSession, layers: ShellLayers): LayerUse<ShellCall> {
  return {
    confinement: async ({ background, writes }) => {
      if (background || writes === 'direct') return 'direct'
      if (await layers.areThere()) return 'layer'
      return (await sandbox.get()).backend === 'none' ? 'direct' : 'read-only'
    },
    keep: layers.keep,
    discard: layers.discard,
  }
}
