/** Run a command inside limits. Knows nothing of tools or models. */
export type { Enforced, Enforcement, Hold, Network } from './backend.ts'
export { BACKENDS, type BackendName, type Command, type CommandLine, type Completed, type Reason } from './command.ts'
export { CommandError, CommandRefused, SandboxError } from './errors.ts'
export { DEFAULT_LIMITS, type Limits, MAX_TIMEOUT, STRICT_LIMITS } from './limits.ts'
export type { Running, Sandbox, SandboxOptions } from './sandbox.ts'
