import type { Sandbox } from '@mulligan/sandbox'
import type { Wanted } from './choice/trust-question.ts'

/**
 * What a workspace reports apart from the events of a turn. `text` is one line for the user, without control characters.
 *
 * - `model`: which model is used, if a project's file chose it or it was found on this machine
 * - `store`: the latest writes to the session store are missing
 * - `withheld`: tools or settings of the folder are left out until the user trusts them
 * - `recovered`: a change that an earlier run left unfinished was reverted
 * - `waiting`: the first request waits for new MCP servers
 * - `left-out`: a tool, a skill or instructions could not be read
 * - `unknown-name`: the settings name a tool that does not exist
 * - `sandbox`: the first command has opened the sandbox
 * - `approval`: the outcome of an answer "always"
 * - `telemetry`: traces were requested but are not sent
 */
export type Notice =
  | {
      readonly kind: 'model' | 'store' | 'recovered' | 'waiting' | 'left-out' | 'unknown-name' | 'approval' | 'telemetry'
      readonly text: string
    }
  | { readonly kind: 'withheld'; readonly text: string; readonly wanted: Wanted }
  | { readonly kind: 'sandbox'; readonly text: string; readonly sandbox: Sandbox }
