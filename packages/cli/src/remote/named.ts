/** Which server a command uses. Apart from the client, so that commands without one start fast. */

import type { Env } from '@mulligan/host/light'
import type { ChoiceFlags } from '@mulligan/host/parts'

/** The flags of `run` and `chat` that are known here; some of them can't be used with a server. */
export interface RemoteFlags extends ChoiceFlags {
  /** False with `--no-agents-md`. */
  readonly agentsMd?: boolean
  readonly cwd?: string
  readonly session?: string
  readonly last?: boolean
  readonly yes?: boolean
  /** Takes the session over even if another process is running a turn of it. */
  readonly takeOver?: boolean
  readonly json?: boolean
  readonly jsonStream?: boolean
  readonly resume?: string | boolean
  /** Sends the token over a network without TLS. */
  readonly insecure?: boolean
  /** Paths of images that are attached to the prompt. */
  readonly image?: readonly string[]
}

/** Returns the address of the server to use; undefined to work in this process. An empty flag overrides the variable. */
export function serverNamed(flag: string | undefined, env: Env): string | undefined {
  const named = (flag ?? env['MULLIGAN_SERVER'])?.trim()
  return named ? named.replace(/\/+$/, '') : undefined
}
