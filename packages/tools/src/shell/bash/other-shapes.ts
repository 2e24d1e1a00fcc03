/** How other agents call a shell, brought to `{ command, cwd, timeout, background }`. Pure. */
import { MAX_TIMEOUT } from '../common/session.ts'
import { quoted } from '../common/simple-commands.ts'

/** About approval, or about a terminal that is kept open: nothing here hangs on them. */
export const LEFT_OUT = [
  ...['with_escalated_permissions', 'sandbox_permissions', 'dangerouslyDisableSandbox', 'prefix_rule'],
  ...['yield_time_ms', 'max_output_tokens', 'WaitMsBeforeAsync', 'login', 'tty', 'shell', 'restart', 'is_input', 'RunPersistent'],
]
const SHELL = /(?:^|\/)(?:ba|z|da|k)?sh$/

/** Lists of words are quoted for the shell; `["bash", "-lc", "…"]` is the script in it. */
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
  // A list of one is a script that was put in a list.
  return command.length === 1 ? program : command.map(quoted).join(' ')
}

/** From here on a `timeout` is not meant in seconds: none may take so many. */
const MILLISECONDS = 1000

/** As many as there may be, where it is more. */
const seconds = (milliseconds: unknown): unknown =>
  Number.isFinite(Number(milliseconds)) && milliseconds !== null
    ? Math.min(MAX_TIMEOUT, Math.max(1, Math.ceil(Number(milliseconds) / 1000)))
    : milliseconds
