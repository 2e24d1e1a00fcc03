import type { Sandbox } from '@mulligan/sandbox'
import type { Wanted } from './choice/trust-question.ts'

/**
 * What a workspace reports apart from the events of a turn. `text` is one line for the user, without control characters.
 *
 * - `model`: which model is used, where a project's file chose it or it was found on this machine
 * - `store`: the latest writes of the sessions are missing
 * - `withheld`: tools or settings of the folder that are left out until the user trusts them
 * - `recovered`: a change that an earlier run was cut off in was taken back
 * - `left-out`: a tool, a skill or instructions that could not be read
 * - `unknown-name`: the settings name a tool that there is not
 * - `sandbox`: the first command has opened the sandbox
 * - `approval`: what became of an answer that was to be kept for good
 * - `telemetry`: traces were asked for, and are not sent
 */
export type Notice =
  | { readonly kind: 'model' | 'store' | 'recovered' | 'left-out' | 'unknown-name' | 'approval' | 'telemetry'; readonly text: string }
  | { readonly kind: 'withheld'; readonly text: string; readonly wanted: Wanted }
  | { readonly kind: 'sandbox'; readonly text: string; readonly sandbox: Sandbox }
