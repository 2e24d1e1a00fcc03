/** How other agents call a shell, brought to `{ command, cwd, timeout, background }`. Pure. */
import { quoted } from '../common/simple-commands.ts'

/** Said for the person, about approval, or about a terminal that is kept open: nothing here hangs on them. */
const LEFT_OUT = new Set([
  ...[
    'description',
    'explanation',
    'justification',
    'reason',
    'requires_approval',
    'safe_to_run',
    'SafeToAutoRun',
    'with_escalated_permissions',
  ],
  ...[
    'sandbox_permissions',
    'yield_time_ms',
    'max_output_tokens',
    'login',
    'tty',
    'shell',
    'restart',
    'dangerouslyDisableSandbox',
    'is_input',
  ],
])
const SHELL = /(?:^|\/)(?:ba|z|da|k)?sh$/

/** Lists of words are quoted for the shell; `["bash", "-lc", "…"]` is the script in it. */
export function fromOtherShapes(input: Record<string, unknown>): Record<string, unknown> {
  const { command, cmd, args, timeout_ms, timeoutMs, ...rest } = input
  const kept = Object.fromEntries(Object.entries(rest).filter(([name]) => !LEFT_OUT.has(name)))
  const line = command ?? cmd
  const script = Array.isArray(args) && typeof line === 'string' ? [line, ...args] : line
  const milliseconds = timeout_ms ?? timeoutMs
  return {
    ...kept,
    ...(script !== undefined && { command: scriptOf(script) }),
    ...(milliseconds !== undefined && { timeout: seconds(milliseconds) }),
  }
}

function scriptOf(command: unknown): unknown {
  if (!Array.isArray(command) || !command.every((word) => typeof word === 'string')) return command
  const [program = '', option = '', script, ...more] = command
  if (SHELL.test(program) && /^-\w*c$/.test(option) && script !== undefined && more.length === 0) return script
  // A list of one is a script that was put in a list.
  return command.length === 1 ? program : command.map(quoted).join(' ')
}

const seconds = (milliseconds: unknown): unknown =>
  Number.isFinite(Number(milliseconds)) && milliseconds !== null ? Math.max(1, Math.ceil(Number(milliseconds) / 1000)) : milliseconds
